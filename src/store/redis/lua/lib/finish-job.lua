-- Takes the next waiting job of a queue of BullMQ. The same as its script (moveToActive) does, apart from what the jobs of this service do not
-- have and the stream of the queue's events. Cases that this function does not know are left to BullMQ's script.
-- `prefix`: of the queue's keys; `token`: for the lock; `lock_ms`: duration of locks.
-- Returns {0}: no job is taken, there may be one; {1, due_at}: no job waits; {2, due_at, ID, fields before this change, 1 if it was the last one or 0}.
-- due_at: when the next delayed job is due (ms), or 0.
local function take_job(prefix, token, now, lock_ms)
  local is_paused, max_active, max_rate = unpack(redis.call('HMGET', prefix .. QUEUE_SETTINGS, 'paused', 'concurrency', 'max'))
  local due_at = redis.call('ZRANGE', prefix .. QUEUE_DELAYED, 0, 0, 'WITHSCORES')[2]
  due_at = due_at and math.floor(tonumber(due_at) / DELAYED_SCORE_PER_MS)
  if is_paused or max_active or max_rate or (due_at and due_at <= tonumber(now)) then
    return {0}
  end
  local id = redis.call('RPOPLPUSH', prefix .. QUEUE_WAITING, prefix .. QUEUE_ACTIVE)
  local others = redis.call('EXISTS', prefix .. QUEUE_WAITING, prefix .. QUEUE_PRIORITIZED)
  if not id then
    return others > 0 and {0} or {1, due_at or 0}
  end
  local job = prefix .. id
  local fields = read_fields(job)
  redis.call('SET', job .. ':lock', token, 'PX', lock_ms)
  redis.call('HSET', job, JOB_STARTED_AT, now, JOB_EXECUTIONS, (fields[JOB_EXECUTIONS] or 0) + 1)
  return {2, due_at or 0, id, cjson.encode(fields), others > 0 and 0 or 1}
end

-- Ends a completed job of BullMQ that is not kept, and takes the next waiting one. The same as its script (moveToFinished) does, apart from what
-- the jobs of this service do not have (parents, deduplication, rate limits) and the stream of the queue's events, which nobody reads: half of the
-- time. Cases that this function does not know are left to BullMQ's script.
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
