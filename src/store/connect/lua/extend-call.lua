#!lua flags=allow-oom
-- @include redis/lua/lib/now.lua
-- Extends the lease of a call for the asking connection, which may be a new one of the same instance.
-- KEYS: call (hash)
-- ARGV: prefix of a connection's calls (zset), call ID, connection ID, length of a lease (ms), TTL of the call (ms), lease ID
-- Returns 1: done; 0: the lease is lost.
local call = redis.call('HMGET', KEYS[1], 'lease', 'connection')
if call[1] ~= ARGV[6] then return 0 end
if redis.call('HEXISTS', KEYS[1], 'reply') == 1 then return 1 end
local dueAt = time_now() + ARGV[4]
redis.call('HSET', KEYS[1], 'until', dueAt, 'acknowledged', 1, 'connection', ARGV[3])
redis.call('HDEL', KEYS[1], 'body')
redis.call('PEXPIRE', KEYS[1], ARGV[5])
if call[2] ~= ARGV[3] then redis.call('ZREM', ARGV[1] .. call[2], ARGV[2]) end
redis.call('ZADD', ARGV[1] .. ARGV[3], dueAt, ARGV[2])
redis.call('PEXPIRE', ARGV[1] .. ARGV[3], ARGV[5])
return 1
