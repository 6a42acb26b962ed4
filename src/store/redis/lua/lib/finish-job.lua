-- Ends a completed job of BullMQ that is not kept, and takes the next waiting one. The same as its script (moveToFinished) does, apart from what
-- the jobs of this service do not have (parents, deduplication, rate limits) and the stream of the queue's events, which nobody reads: half of the
-- time. Cases that this function does not know are left to BullMQ's script.
-- `job`: key of the job; `token`: of its lock; `lock_ms`: duration of locks; `takes_next`: '1' to take the next job.
-- Returns {}: nothing is done, because the worker no longer holds the job; {0}: no job is taken, there may be one; {1, 0 or when the next delayed
-- job is due (ms)}: no job waits; {2, ID, fields}: the next job before this change.
local function finish_job(job, id, token, now, lock_ms, takes_next)
  local prefix = string.sub(job, 1, -1 - #id)
  local active = prefix .. QUEUE_ACTIVE

  if redis.call('GET', job .. ':lock') ~= token or redis.call('LREM', active, -1, id) == 0 then
    return {}
  end
  redis.call('DEL', job, job .. ':lock')
  redis.call('SREM', prefix .. QUEUE_STALLED, id)
  if takes_next ~= '1' then
    return {0}
  end
  local is_paused, max_active, max_rate = unpack(redis.call('HMGET', prefix .. QUEUE_SETTINGS, 'paused', 'concurrency', 'max'))
  local due_at = redis.call('ZRANGE', prefix .. QUEUE_DELAYED, 0, 0, 'WITHSCORES')[2]
  due_at = due_at and math.floor(tonumber(due_at) / DELAYED_SCORE_PER_MS)
  if is_paused or max_active or max_rate or (due_at and due_at <= tonumber(now)) then
    return {0}
  end
  local next_id = redis.call('RPOPLPUSH', prefix .. QUEUE_WAITING, active)
  if not next_id then
    return redis.call('EXISTS', prefix .. QUEUE_PRIORITIZED) == 1 and {0} or {1, due_at or 0}
  end
  local next_job = prefix .. next_id
  local fields = read_fields(next_job)
  redis.call('SET', next_job .. ':lock', token, 'PX', lock_ms)
  redis.call('HSET', next_job, JOB_STARTED_AT, now, JOB_EXECUTIONS, (fields[JOB_EXECUTIONS] or 0) + 1)
  return {2, next_id, cjson.encode(fields)}
end
