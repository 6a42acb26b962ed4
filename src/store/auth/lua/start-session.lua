#!lua flags=allow-oom
-- Stores a session. Runs even when Redis is out of memory, because a user must be able to sign in to free some.
-- KEYS: session (string)
-- ARGV: session (JSON), TTL (ms)
-- Returns OK.
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
