#!lua flags=allow-oom
-- Removes a connection. Its calls keep their leases: the app may have another connection by now.
-- KEYS: connection (hash), connections of the environment (zset)
-- ARGV: connection ID, then the ready connections (zset) of each app
-- Returns 1.
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
for i = 2, #ARGV do
  redis.call('ZREM', ARGV[i], ARGV[1])
end
return 1
