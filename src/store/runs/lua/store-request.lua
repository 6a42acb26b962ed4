-- @include runs/lua/lib/is-active.lua
-- Stores the encrypted request of a step, once, while its run is active.
-- KEYS: run (hash)
-- ARGV: step, encrypted request, maximum bytes of the run's memos and requests
-- Returns 'stored': now or before; 'ended'; 'bytes': the run has too many.
local run = KEYS[1]
local step, request, max_bytes = unpack(ARGV)
local requests = run .. SUFFIX_REQUESTS
if not is_active(redis.call('HGET', run, FIELD_STATUS)) then
  return 'ended'
end
if redis.call('HEXISTS', requests, step) == 0 then
  if redis.call('HINCRBY', run, FIELD_MEMO_BYTES, #request) > tonumber(max_bytes) then
    redis.call('HINCRBY', run, FIELD_MEMO_BYTES, -#request)
    return 'bytes'
  end
  redis.call('HSET', requests, step, request)
end
return 'stored'
