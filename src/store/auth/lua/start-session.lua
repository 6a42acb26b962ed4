#!lua flags=allow-oom
-- Stores a session. Runs even when Redis is out of memory, because a user must be able to sign in to free some.
-- KEYS: session (string), indexes that list it (zset)...
-- ARGV: session (JSON), TTL (ms), its digest, now (ms), longest life of a session (ms)
-- Returns OK.
local session, ttl, digest, now, longest = unpack(ARGV)
for at = 2, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[at], '-inf', now - longest)
  redis.call('ZADD', KEYS[at], now, digest)
  redis.call('PEXPIRE', KEYS[at], longest)
end
return redis.call('SET', KEYS[1], session, 'PX', ttl)
