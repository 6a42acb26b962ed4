-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- @include events/lua/lib/stored-event.lua
-- Begins a call of a run's function, unless the call is no longer needed.
-- KEYS: run (hash), bucket of its event (hash), overflow key of its event (string), active runs (zset), functions whose runs
--       must not start (hash)
-- ARGV: now (ms), attempt (from 0), retention (ms): the event stays at least that long, member of the run in the active runs, time of
--       the next reconciliation (ms), length of the stack that the call is for or '', step to run or '', field of the event in its
--       bucket.
--       Positional: this runs for every call.
-- Returns {'due', run, event or false, stack, memos, number of pending steps, 1 if new steps are only planned, the pending step
-- to run or false}; {'ended', run}: the run has
-- ended; {'held', run}: its function is paused, and it must not start; {'superseded'}: a later call does this one's work, or the step is
-- finished; {'nextCallDue', run, number of finished steps}: a later call is due, but may not be enqueued because a worker died; {'gone'}.
local run, bucket, overflow, active_runs, held_functions = unpack(KEYS)
local now, attempt, retention, member, reconcile_at, stack_length, step, event_field = unpack(ARGV)
local memos, stack = run .. SUFFIX_MEMOS, run .. SUFFIX_STACK

local status, started_at, packed = unpack(redis.call('HMGET', run, FIELD_STATUS, FIELD_STARTED_AT, FIELD_PACKED))
if not status then
  return {'gone'}
end
if packed then
  packed_runs().unpack(run)
end
if not is_active(status) then
  return {'ended', redis.call('HGETALL', run)}
end
-- Processes may learn of a pause a second late.
if not started_at then
  local function_id, queued_at = unpack(redis.call('HMGET', run, FIELD_FUNCTION_ID, FIELD_QUEUED_AT))
  local mark = redis.call('HGET', held_functions, function_id)
  local queued_before = mark and tonumber(string.match(mark, ' (%d+)$'))
  if mark and (not queued_before or tonumber(queued_at) <= queued_before) then
    return {'held', redis.call('HGETALL', run)}
  end
end
local finished_steps = redis.call('LRANGE', stack, 0, -1)
local checkpoint = redis.call('HGET', run, FIELD_CHECKPOINT)
if
  (stack_length ~= '' and #finished_steps ~= tonumber(stack_length)
    -- The exception is a checkpoint of this very call, whose process then died.
    and checkpoint ~= #finished_steps .. ':' .. stack_length)
  or (step ~= '' and redis.call('HEXISTS', memos, step) == 1)
then
  local answered_at = tonumber(redis.call('HGET', run, FIELD_ANSWERED_AT) or -1)
  -- The owner of a checkpoint continues the run by itself.
  local is_owned = checkpoint and string.find(checkpoint, #finished_steps .. ':', 1, true) == 1
  if not is_owned and answered_at < #finished_steps and redis.call('HLEN', run .. SUFFIX_PENDING) == 0 then
    return {'nextCallDue', redis.call('HGETALL', run), #finished_steps}
  end
  return {'superseded'}
end
redis.call('HSET', run, FIELD_STATUS, STATUS_RUNNING, FIELD_ATTEMPT, attempt, FIELD_STARTED_AT, started_at or now)
extend_retention(bucket, event_field, overflow, retention)
redis.call('ZADD', active_runs, reconcile_at, member)
local fields = redis.call('HGETALL', run)
local pending = redis.call('HLEN', run .. SUFFIX_PENDING)
local plan_only = pending > 0
if stack_length ~= '' then
  -- An unanswered planning call may still plan steps that are new to this call.
  local own = FIELD_PLANNING .. stack_length
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #FIELD_PLANNING) == FIELD_PLANNING and fields[i] ~= own then
      plan_only = true
    end
  end
  if plan_only then
    redis.call('HSET', run, own, 1)
  end
end
return {
  'due', fields, read_event(bucket, event_field, overflow), finished_steps,
  #finished_steps == 0 and {} or redis.call('HGETALL', memos), pending, plan_only and 1 or 0,
  step ~= '' and redis.call('HGET', run .. SUFFIX_PENDING, step) or false
}
