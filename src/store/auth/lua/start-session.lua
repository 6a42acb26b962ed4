#!lua flags=allow-oom
-- Stores a session. Works when Redis is out of memory: a user must be able to sign in and make room.
-- KEYS: session (string)
-- ARGV: session (JSON), TTL (ms)
-- Returns OK.
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
