-- @include runs/lua/lib/packed-run.lua
-- Reads the unfinished steps of a run.
-- KEYS: run (hash)
-- ARGV: about how many of them at most, or '' for all
-- Returns {pending steps: ID, JSON, ID, JSON, …; number of pending steps; number of finished steps}.
local run, most = KEYS[1], ARGV[1]
if redis.call('HEXISTS', run, FIELD_PACKED) == 1 then
  local packed = packed_runs().read(run)
  local pending = packed[SUFFIX_PENDING]
  return { pending, #pending / 2, #packed[SUFFIX_STACK] }
end
local pending = run .. SUFFIX_PENDING
local read = most == '' and redis.call('HGETALL', pending) or redis.call('HSCAN', pending, 0, 'COUNT', most)[2]
return { read, redis.call('HLEN', pending), redis.call('LLEN', run .. SUFFIX_STACK) }
