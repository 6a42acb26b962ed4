-- Adds jobs to a queue of BullMQ, each once. The same as its script for one job (addStandardJob) does, apart from what the jobs
-- of runs do not have (parents, deduplication) and the stream of the queue's events, which nobody reads: a quarter of the time.
-- `prefix`: of the queue's keys; `now`: ms; `args`: for each job its ID, name, data (JSON), options (JSON); `token`: for the
-- locks of a worker that takes jobs at once if no others come before them, '' or nil: none does; `lock_ms`: duration of locks;
-- `takes_max`: how many it takes.
-- Returns the IDs of the jobs that it has taken.
local function add_jobs(prefix, now, args, token, lock_ms, takes_max)
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
  local taken = {}
  if #added == 0 then
    return taken
  end
  local is_paused, max_active, max_rate = unpack(redis.call('HMGET', prefix .. QUEUE_SETTINGS, 'paused', 'concurrency', 'max'))
  if (token or '') ~= '' and not (is_paused or max_active or max_rate) then
    if redis.call('EXISTS', prefix .. QUEUE_WAITING) == 0 then
      while #added > 0 and #taken < tonumber(takes_max) do
        local id = table.remove(added, 1)
        redis.call('LPUSH', prefix .. QUEUE_ACTIVE, id)
        redis.call('SET', prefix .. id .. ':lock', token, 'PX', lock_ms)
        redis.call('HSET', prefix .. id, JOB_STARTED_AT, now, JOB_EXECUTIONS, 1)
        taken[#taken + 1] = id
      end
    end
  end
  if #added > 0 then
    redis.call('LPUSH', prefix .. QUEUE_WAITING, unpack(added))
    if not is_paused then
      redis.call('ZADD', prefix .. QUEUE_MARKER, 0, '0')
    end
  end
  return taken
end
