-- Adds a delayed job to a queue of BullMQ, unless it exists. The same as its script (addDelayedJob) does, apart from what the
-- jobs of runs do not have and the stream of the queue's events.
-- `prefix`: of the queue's keys; `now`, `due_at`: ms; `data`, `options`: JSON.
local function add_delayed_job(prefix, now, due_at, id, name, data, options, priority)
  -- Fails when the installation has moved to another Redis (move/fence.ts).
  local number = redis.call('INCR', prefix .. QUEUE_LAST_ID)
  local job = prefix .. id
  if redis.call('EXISTS', job) == 1 then
    return
  end
  redis.call(
    'HSET', job, 'name', name, JOB_DATA, data, JOB_OPTIONS, options, JOB_ADDED_AT, now, 'delay', math.max(0, due_at - now),
    JOB_PRIORITY, priority
  )
  -- Jobs of the same millisecond stay in order.
  redis.call('ZADD', prefix .. QUEUE_DELAYED, due_at * DELAYED_SCORE_PER_MS + number % DELAYED_SCORE_PER_MS, id)
  -- A worker that waits is woken when the first one is due.
  redis.call('ZADD', prefix .. QUEUE_MARKER, 'LT', due_at, '1')
end
