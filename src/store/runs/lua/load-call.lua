-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- @include runs/lua/lib/end-sleep.lua
-- @include redis/lua/lib/read-fields.lua
-- @include events/lua/lib/stored-event.lua
-- Begins a call of a run's function, unless the call is no longer needed. If the call follows a sleep, the script first ends the sleep.
-- KEYS: run (hash), bucket of its event (hash), overflow key of its event (string), active runs (zset), functions whose runs
--       must not start (hash)
-- ARGV: now (ms), attempt (from 0), retention (ms): the event stays at least that long, member of the run in the active runs, time of
--       the next reconciliation (ms), length of the stack that the call is for or '', step to run or '', field of the event in its
--       bucket, the sleep that ends with the call or ''.
--       Positional: this runs for every call.
-- Returns {'due', run, event or false, stack, memos, number of pending steps, 1 if new steps are only planned, the pending step
-- to run or false, 1 if the memos do not fit into a call: then long ones are null}; {'ended', run}: the run has
-- ended; {'held', run}: its function is paused, and it must not start; {'paused', run}: the run is paused; {'superseded'}: a
-- later call does this one's work, or the step is finished; {'sleeps'}: the sleep has to end by a script of its own first;
-- {'nextCallDue', run, number of finished steps}: a later call is due, but may not be enqueued because a worker died; {'gone'}.
-- The run and the memos are JSON objects: to read a reply of many strings takes a client twice as long.
local run, bucket, overflow, active_runs, held_functions = unpack(KEYS)
local now, attempt, retention, member, reconcile_at, stack_length, step, event_field, sleep = unpack(ARGV)
local memos, stack, pending = run .. SUFFIX_MEMOS, run .. SUFFIX_STACK, run .. SUFFIX_PENDING

local of = read_fields(run)
if of[FIELD_PACKED] then
  packed_runs().unpack(run)
  of = read_fields(run)
end
local status, started_at, checkpoint = of[FIELD_STATUS], of[FIELD_STARTED_AT], of[FIELD_CHECKPOINT]
if not status then
  return {'gone'}
end
if not is_active(status) then
  return {'ended', cjson.encode(of)}
end
if sleep ~= '' and not end_sleep(run, sleep, now, of) then
  return {'sleeps'}
end
-- Processes may learn of a pause a second late.
if not started_at then
  local mark = redis.call('HGET', held_functions, of[FIELD_FUNCTION_ID])
  local queued_before = mark and tonumber(string.match(mark, ' (%d+)$'))
  if mark and (not queued_before or tonumber(of[FIELD_QUEUED_AT]) <= queued_before) then
    return {'held', cjson.encode(of)}
  end
end
if of[FIELD_PAUSED] then
  return {'paused', cjson.encode(of)}
end
-- Before its first call, only a re-run from a step has steps.
local has_steps = started_at or of[FIELD_FROM_STEP]
local finished_steps = has_steps and redis.call('LRANGE', stack, 0, -1) or {}
if
  (stack_length ~= '' and #finished_steps ~= tonumber(stack_length)
    -- The exception is a checkpoint of this very call, whose process then died.
    and checkpoint ~= #finished_steps .. ':' .. stack_length)
  or (step ~= '' and redis.call('HEXISTS', memos, step) == 1)
then
  local answered_at = tonumber(of[FIELD_ANSWERED_AT] or -1)
  -- The owner of a checkpoint continues the run by itself.
  local is_owned = checkpoint and string.find(checkpoint, #finished_steps .. ':', 1, true) == 1
  if not is_owned and answered_at < #finished_steps and redis.call('HLEN', pending) == 0 then
    return {'nextCallDue', cjson.encode(of), #finished_steps}
  end
  return {'superseded'}
end
of[FIELD_STATUS], of[FIELD_ATTEMPT], of[FIELD_STARTED_AT] = STATUS_RUNNING, attempt, started_at or now
redis.call('HSET', run, FIELD_STATUS, STATUS_RUNNING, FIELD_ATTEMPT, attempt, FIELD_STARTED_AT, started_at or now)
redis.call('ZADD', active_runs, reconcile_at, member)
local pending_steps = has_steps and redis.call('HLEN', pending) or 0
local plan_only = pending_steps > 0
if stack_length ~= '' then
  -- An unanswered planning call may still plan steps that are new to this call.
  local own = FIELD_PLANNING .. stack_length
  for field in pairs(of) do
    if string.sub(field, 1, #FIELD_PLANNING) == FIELD_PLANNING and field ~= own then
      plan_only = true
    end
  end
  if plan_only then
    redis.call('HSET', run, own, 1)
  end
end
-- Returns only the short memos if not all fit into a call. The app fetches the others: to read them here would keep Redis and the
-- worker from other work.
local function omitted_memos()
  local short, bytes = {}, 0
  for _, step_id in ipairs(redis.call('HKEYS', memos)) do
    local length = redis.call('HSTRLEN', memos, step_id)
    bytes = bytes + length
    short[step_id] = length <= SHORT_MEMO_BYTES and redis.call('HGET', memos, step_id) or 'null'
  end
  return bytes > MAX_CALL_BYTES and short or nil
end
local omitted = #finished_steps > 0 and tonumber(of[FIELD_MEMO_BYTES] or 0) > MAX_CALL_BYTES and omitted_memos() or nil
-- Memos are JSON, and may be large: they are copied once.
local steps = {'{'}
if #finished_steps > 0 then
  for step_id, memo in pairs(omitted or read_fields(memos)) do
    steps[#steps + 1] = (#steps == 1 and '' or ',') .. cjson.encode(step_id) .. ':'
    steps[#steps + 1] = memo
  end
end
steps[#steps + 1] = '}'
return {
  'due', cjson.encode(of), extend_retention(bucket, event_field, overflow, retention), finished_steps,
  table.concat(steps), pending_steps, plan_only and 1 or 0,
  step ~= '' and redis.call('HGET', pending, step) or false, omitted and 1 or 0
}
