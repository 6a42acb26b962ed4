-- @include redis/lua/lib/now.lua
-- Reserves a place for a connection while it registers its apps; the place expires unless the connection is stored.
-- KEYS: connections of the environment (zset)
-- ARGV: connection ID, TTL (ms), maximum number of connections
-- Returns 1; 0: the maximum number is reached.
local now = time_now()
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
