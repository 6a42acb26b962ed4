-- Reserves a place for a connection while it registers its apps; the place expires unless the connection is stored.
-- KEYS: connections of the environment (zset)
-- ARGV: connection ID, TTL (ms), most connections
-- Returns 1; 0: the maximum number is reached.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
