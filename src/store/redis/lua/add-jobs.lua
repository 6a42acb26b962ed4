-- Adds jobs to a queue of BullMQ, each once. The same as its script for one job (addStandardJob) does, apart from what the jobs of runs do not have
-- (parents, deduplication) and the stream of the queue's events, which nobody reads: a quarter of the time.
-- KEYS: waiting jobs (list), settings of the queue (hash), counter for IDs (string), marker (zset)
-- ARGV: prefix of the jobs' keys, now (ms), then for each job: ID, name, data (JSON), options (JSON). Positional: this runs for every call.
-- Returns nothing.
local waiting, settings, last_id, marker = unpack(KEYS)
local prefix, now = ARGV[1], ARGV[2]
local FIRST_JOB, ARGS_PER_JOB = 3, 4

-- Fails when the installation has moved to another Redis (move/fence.ts).
redis.call('INCR', last_id)
local added = {}
for i = FIRST_JOB, #ARGV, ARGS_PER_JOB do
  local id, name, data, options = unpack(ARGV, i, i + ARGS_PER_JOB - 1)
  local job = prefix .. id
  if redis.call('EXISTS', job) == 0 then
    redis.call('HSET', job, 'name', name, JOB_DATA, data, JOB_OPTIONS, options, JOB_ADDED_AT, now, 'delay', 0, 'priority', 0)
    added[#added + 1] = id
  end
end
if #added == 0 then
  return
end
redis.call('LPUSH', waiting, unpack(added))
if not redis.call('HGET', settings, 'paused') then
  redis.call('ZADD', marker, 0, '0')
end
