-- Adds jobs to a queue of BullMQ, each once. The same as its script for one job (addStandardJob) does, apart from what the jobs of runs do not have
-- (parents, deduplication) and the stream of the queue's events, which nobody reads: a quarter of the time.
-- `prefix`: of the queue's keys; `now`: ms; `args`: for each job its ID, name, data (JSON), options (JSON).
local function add_jobs(prefix, now, args)
  local ARGS_PER_JOB = 4
  -- Fails when the installation has moved to another Redis (move/fence.ts).
  redis.call('INCR', prefix .. QUEUE_LAST_ID)
  local added = {}
  for i = 1, #args, ARGS_PER_JOB do
    local id, name, data, options = unpack(args, i, i + ARGS_PER_JOB - 1)
    local job = prefix .. id
    if redis.call('EXISTS', job) == 0 then
      redis.call('HSET', job, 'name', name, JOB_DATA, data, JOB_OPTIONS, options, JOB_ADDED_AT, now, 'delay', 0, 'priority', 0)
      added[#added + 1] = id
    end
  end
  if #added == 0 then
    return
  end
  redis.call('LPUSH', prefix .. QUEUE_WAITING, unpack(added))
  if not redis.call('HGET', prefix .. QUEUE_SETTINGS, 'paused') then
    redis.call('ZADD', prefix .. QUEUE_MARKER, 0, '0')
  end
end
