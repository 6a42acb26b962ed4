-- @include runs/lua/lib/store-wait.lua
-- Stores a wait whose run is in another partition, once.
-- KEYS: waits of its event name (hash), waits of its name and value (hash), paths of its name (hash)
-- ARGV: maximum number of paths of an event name, key of the wait, the wait (JSON), path of the required field (JSON) or '',
--       TTL (ms)
-- Returns 1: stored; 0: it was stored before.
local by_name, by_value, paths = unpack(KEYS)
local max_paths, wait_key, wait, path, ttl = unpack(ARGV)
if redis.call('HEXISTS', by_name, wait_key) == 1 or redis.call('HEXISTS', by_value, wait_key) == 1 then
  return 0
end
store_wait(by_name, by_value, paths, wait_key, wait, path, ttl, tonumber(max_paths))
return 1
