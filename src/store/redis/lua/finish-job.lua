-- @include redis/lua/lib/read-fields.lua
-- @include redis/lua/lib/finish-job.lua
-- Ends a completed job, and takes the next one.
-- KEYS: job (hash)
-- ARGV: its ID, token of its lock, now (ms), duration of locks (ms), 1 to take the next job. Positional: this runs for every job.
-- Returns what finish_job does.
return finish_job(KEYS[1], unpack(ARGV))
