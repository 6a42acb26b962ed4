-- Returns the time at which the next delayed job is due (ms); nil: there is none.
local function next_due(prefix)
  local score = redis.call('ZRANGE', prefix .. QUEUE_DELAYED, 0, 0, 'WITHSCORES')[2]
  return score and math.floor(tonumber(score) / DELAYED_SCORE_PER_MS)
end

-- Makes delayed jobs that are due wait for a worker, in their order. BullMQ's script (promoteDelayedJobs) does so with a thousand at once,
-- which would hold up everything else for as long as a hundred calls take.
local function promote_due(prefix, now)
  local PROMOTED_AT_ONCE, PRIORITY_FACTOR = 50, 0x100000000
  local delayed = prefix .. QUEUE_DELAYED
  local up_to = (now + 1) * DELAYED_SCORE_PER_MS - 1
  local due = redis.call('ZRANGEBYSCORE', delayed, '-inf', up_to, 'LIMIT', 0, PROMOTED_AT_ONCE)
  redis.call('ZREM', delayed, unpack(due))
  for _, id in ipairs(due) do
    local priority = tonumber(redis.call('HGET', prefix .. id, JOB_PRIORITY) or 0)
    if priority == 0 then
      redis.call('LPUSH', prefix .. QUEUE_WAITING, id)
    else
      local number = redis.call('INCR', prefix .. QUEUE_PRIORITY_COUNTER) % PRIORITY_FACTOR
      redis.call('ZADD', prefix .. QUEUE_PRIORITIZED, priority * PRIORITY_FACTOR + number, id)
    end
  end
  redis.call('ZADD', prefix .. QUEUE_MARKER, 0, '0')
end

-- Moves the first waiting job to the active ones: jobs without a priority come first. But every fifth is a wake-up, if one
-- waits: else none would come while calls always wait. Returns its ID; false: no job waits.
local function pop_job(prefix, now)
  local TAKES_PER_WAKE_UP, PRIORITY_FACTOR = 5, 0x100000000
  local prioritized, active = prefix .. QUEUE_PRIORITIZED, prefix .. QUEUE_ACTIVE
  local id
  -- The clock is random enough.
  if now % TAKES_PER_WAKE_UP == 0 then
    local next_priority = (WAKE_UP_PRIORITY + 1) * PRIORITY_FACTOR
    id = redis.call('ZRANGEBYSCORE', prioritized, '-inf', '(' .. next_priority, 'LIMIT', 0, 1)[1]
    if id then
      redis.call('ZREM', prioritized, id)
    end
  end
  if not id then
    local waiting = redis.call('RPOPLPUSH', prefix .. QUEUE_WAITING, active)
    if waiting then
      return waiting
    end
    id = redis.call('ZPOPMIN', prioritized)[1]
  end
  if id then
    redis.call('LPUSH', active, id)
  end
  -- The last job with a priority was taken, or removed before.
  if not id or redis.call('EXISTS', prioritized) == 0 then
    redis.call('DEL', prefix .. QUEUE_PRIORITY_COUNTER)
  end
  return id
end

-- Makes a job of the active ones one that this worker runs. A wake-up yields to others once: it has no priority afterwards.
-- Returns its fields before this change, as JSON.
local function start_job(job, token, now, lock_ms)
  local fields = read_fields(job)
  local executions = (fields[JOB_EXECUTIONS] or 0) + 1
  redis.call('SET', job .. ':lock', token, 'PX', lock_ms)
  if fields[JOB_PRIORITY] == WAKE_UP_PRIORITY then
    redis.call('HSET', job, JOB_STARTED_AT, now, JOB_EXECUTIONS, executions, JOB_PRIORITY, 0)
  else
    redis.call('HSET', job, JOB_STARTED_AT, now, JOB_EXECUTIONS, executions)
  end
  return cjson.encode(fields)
end

-- Takes the next waiting jobs of a queue of BullMQ. The same as its script (moveToActive) does with one, apart from what the jobs of
-- this service do not have and the stream of the queue's events. Cases that this function does not know are left to BullMQ's script.
-- `prefix`: of the queue's keys; `token`: for the locks; `lock_ms`: duration of locks; `takes_max`: how many it takes; nil: one.
-- Returns {0}: no job is taken, there may be one; {1, due_at}: no job waits; {2, due_at, ID, fields before this change, 1 if no
-- more wait or 0, then ID and fields of each further job that is taken}.
-- due_at: when the next delayed job is due (ms), or 0.
local function take_job(prefix, token, now, lock_ms, takes_max)
  local is_paused, max_active, max_rate = unpack(redis.call('HMGET', prefix .. QUEUE_SETTINGS, 'paused', 'concurrency', 'max'))
  if is_paused or max_active or max_rate then
    return {0}
  end
  local due_at = next_due(prefix)
  if due_at and due_at <= tonumber(now) then
    promote_due(prefix, now)
    due_at = next_due(prefix)
  end
  local id = pop_job(prefix, now)
  if not id then
    return {1, due_at or 0}
  end
  local taken = {2, due_at or 0, id, start_job(prefix .. id, token, now, lock_ms), 0}
  for i = 1, (takes_max or 1) - 1 do
    local other = pop_job(prefix, now + i)
    if not other then
      break
    end
    taken[#taken + 1] = other
    taken[#taken + 1] = start_job(prefix .. other, token, now, lock_ms)
  end
  if redis.call('EXISTS', prefix .. QUEUE_WAITING, prefix .. QUEUE_PRIORITIZED) == 0 and not (due_at and due_at <= tonumber(now)) then
    taken[5] = 1
  end
  return taken
end

-- Ends a completed job of BullMQ that is not kept, and takes the next waiting one. The same as its script (moveToFinished) does,
-- apart from what the jobs of this service do not have (parents, deduplication, rate limits) and the stream of the queue's
-- events, which nobody reads: half of the time. Cases that this function does not know are left to BullMQ's script.
-- `job`: key of the job; `token`: of its lock; `lock_ms`: duration of locks; `takes_next`: '1' to take the next job.
-- Returns {}: nothing is done, because the worker no longer holds the job; otherwise what take_job does.
local function finish_job(job, id, token, now, lock_ms, takes_next)
  local prefix = string.sub(job, 1, -1 - #id)
  if redis.call('GET', job .. ':lock') ~= token or redis.call('LREM', prefix .. QUEUE_ACTIVE, -1, id) == 0 then
    return {}
  end
  redis.call('DEL', job, job .. ':lock')
  redis.call('SREM', prefix .. QUEUE_STALLED, id)
  return takes_next == '1' and take_job(prefix, token, now, lock_ms) or {0}
end
