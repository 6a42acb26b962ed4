#!lua flags=allow-oom
-- Appends to the audit log. Runs even when Redis is out of memory: deletions that free memory are logged, too.
-- KEYS: audit log (stream)
-- ARGV: entry (JSON), maximum number of entries
-- Returns the entry's ID.
return redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[2], '*', 'entry', ARGV[1])
