#!lua flags=allow-oom
-- Stores a session, also where Redis is full: somebody must be able to sign in and make room.
-- KEYS[1] session (string)
-- ARGV[1] session, as JSON  ARGV[2] how long it lives (ms)
return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
