-- Removes the encrypted request of a step.
-- KEYS: run (hash)
-- ARGV: step
-- Returns nothing.
local run, step = KEYS[1], ARGV[1]
local requests = run .. SUFFIX_REQUESTS
local bytes = redis.call('HSTRLEN', requests, step)
if redis.call('HDEL', requests, step) == 1 then
  redis.call('HINCRBY', run, FIELD_MEMO_BYTES, -bytes)
end
