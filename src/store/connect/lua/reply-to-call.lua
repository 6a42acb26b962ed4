-- Stores the first reply to a call, and notifies the waiting worker.
-- KEYS: call (hash)
-- ARGV: prefixes of a connection's calls (zset) and of a caller (channel), call ID, TTL of the call (ms), reply, PUBLISH or SPUBLISH
-- Returns 1: stored; 0: no worker waits for the reply, or the call already has one.
local call = redis.call('HMGET', KEYS[1], 'caller', 'connection')
if not call[1] or redis.call('HEXISTS', KEYS[1], 'reply') == 1 then return 0 end
redis.call('HSET', KEYS[1], 'reply', ARGV[5])
redis.call('HDEL', KEYS[1], 'body')
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZREM', ARGV[1] .. call[2], ARGV[3])
redis.call(ARGV[6], ARGV[2] .. call[1], ARGV[3])
return 1
