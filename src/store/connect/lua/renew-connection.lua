-- @include redis/lua/lib/now.lua
-- Stores a connection and the apps that it serves. Repeated every few seconds to keep it live.
-- KEYS: connection (hash), connections of the environment (zset)
-- ARGV: connection ID, TTL (ms), TTL of functions and instances (ms), 1 if it takes calls, gateway ID, concurrency, the connection as
-- JSON,
--       then for each app: its name, ready connections (zset), hash of its functions, functions (set), instance (string),
--       version or ''
-- Returns 1; 0: somebody has ended it (end-connection.lua).
if redis.call('HEXISTS', KEYS[1], 'ended') == 1 then
  return 0
end
local now = time_now()
local liveUntil = now + ARGV[2]
redis.call('HSET', KEYS[1], 'gateway', ARGV[5], 'concurrency', ARGV[6], 'json', ARGV[7])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
redis.call('ZADD', KEYS[2], liveUntil, ARGV[1])
for i = 8, #ARGV, 6 do
  redis.call('HSET', KEYS[1], 'functions:' .. ARGV[i], ARGV[i + 2], 'version:' .. ARGV[i], ARGV[i + 5])
  if ARGV[4] == '1' then
    redis.call('ZADD', ARGV[i + 1], liveUntil, ARGV[1])
    redis.call('PEXPIRE', ARGV[i + 1], ARGV[2])
  else
    redis.call('ZREM', ARGV[i + 1], ARGV[1])
  end
  redis.call('ZREMRANGEBYSCORE', ARGV[i + 1], '-inf', now)
  redis.call('PEXPIRE', ARGV[i + 3], ARGV[3])
  redis.call('SET', ARGV[i + 4], '', 'PX', ARGV[3])
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
