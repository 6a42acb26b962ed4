#!lua flags=allow-oom
-- Stores what a sign-in needs for a few minutes. Runs even when Redis is out of memory, as start-session.lua does.
-- KEYS: key (string)
-- ARGV: value, TTL (ms)
-- Returns OK.
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
