#!lua flags=allow-oom
-- @include redis/lua/lib/now.lua
-- Starts the lease of a connection that has begun to work on a call, and removes the call's body.
-- KEYS: call (hash)
-- ARGV: prefix of a connection's calls (zset), call ID, connection ID, length of a lease (ms), TTL of the call (ms)
-- Returns 1: done; 0: the call does not belong to the connection, or no longer does.
if redis.call('HGET', KEYS[1], 'connection') ~= ARGV[3] then return 0 end
if redis.call('HEXISTS', KEYS[1], 'reply') == 1 then return 1 end
local dueAt = time_now() + ARGV[4]
redis.call('HSET', KEYS[1], 'until', dueAt, 'acknowledged', 1)
redis.call('HDEL', KEYS[1], 'body')
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('ZADD', ARGV[1] .. ARGV[3], dueAt, ARGV[2])
redis.call('PEXPIRE', ARGV[1] .. ARGV[3], ARGV[5])
return 1
