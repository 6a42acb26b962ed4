-- Removes a wait whose run is in another partition.
-- KEYS: waits of its event name (hash), waits of its name and value (hash), paths of its name (hash)
-- ARGV: key of the wait, path of the required field (JSON) or ''
-- Returns nothing.
local by_name, by_value, paths = unpack(KEYS)
local wait_key, path = unpack(ARGV)
if redis.call('HDEL', by_value, wait_key) == 0 then
  redis.call('HDEL', by_name, wait_key)
elseif path ~= '' and redis.call('HINCRBY', paths, path, -1) <= 0 then
  redis.call('HDEL', paths, path)
end
