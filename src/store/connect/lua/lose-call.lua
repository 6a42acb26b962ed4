#!lua flags=allow-oom
-- @include redis/lua/lib/now.lua
-- Deletes a call whose lease has expired without a reply. Later replies are ignored.
-- KEYS: call (hash)
-- ARGV: prefix of a connection's calls (zset), call ID
-- Returns 1: deleted, or there was none; 0: it has a reply, or a lease.
local call = redis.call('HMGET', KEYS[1], 'until', 'connection')
if not call[1] then return 1 end
if redis.call('HEXISTS', KEYS[1], 'reply') == 1 or tonumber(call[1]) > time_now() then
  return 0
end
redis.call('ZREM', ARGV[1] .. call[2], ARGV[2])
redis.call('DEL', KEYS[1])
return 1
