#!lua flags=allow-oom
-- Appends to the audit log, also where Redis is full: what is done to make room is told of, too.
-- KEYS[1] audit log (stream)
-- ARGV[1] entry, as JSON  ARGV[2] most entries that are kept
-- Returns the entry's ID
return redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[2], '*', 'entry', ARGV[1])
