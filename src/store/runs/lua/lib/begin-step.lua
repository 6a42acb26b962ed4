-- Records that a step has begun, once.
-- `count`: number of steps of the run, finished and begun; `event`: bucket, field in it and overflow key of its event, which
-- stays for `event_ttl` ms.
-- Returns the pending step as it is stored; '': the step is finished; 'steps': the run has too many; and whether it is new.
local function begin_step(run, count, max_steps, event, step, pending_step, event_ttl)
  local pending = run .. SUFFIX_PENDING
  if redis.call('HEXISTS', run .. SUFFIX_MEMOS, step) == 1 then
    return '', false
  end
  local stored = redis.call('HGET', pending, step)
  if stored then
    return stored, false
  end
  if count >= tonumber(max_steps) then
    return 'steps', false
  end
  local bucket, field, overflow = unpack(event)
  extend_retention(bucket, field, overflow, event_ttl)
  redis.call('HSET', pending, step, pending_step)
  return pending_step, true
end
