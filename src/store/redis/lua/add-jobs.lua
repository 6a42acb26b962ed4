-- @include redis/lua/lib/add-jobs.lua
-- Adds jobs to a queue of BullMQ, each once.
-- KEYS: waiting jobs (list)
-- ARGV: now (ms), then for each job: ID, name, data (JSON), options (JSON). Positional: this runs for every call.
-- Returns nothing.
add_jobs(string.sub(KEYS[1], 1, -1 - #QUEUE_WAITING), ARGV[1], { unpack(ARGV, 2) })
