#!lua flags=allow-oom
-- Deletes a call whose reply has taken effect.
-- KEYS: call (hash)
-- ARGV: prefix of a connection's calls (zset), call ID
-- Returns 1: deleted; 0: there was none.
local connection = redis.call('HGET', KEYS[1], 'connection')
if not connection then return 0 end
redis.call('ZREM', ARGV[1] .. connection, ARGV[2])
redis.call('DEL', KEYS[1])
return 1
