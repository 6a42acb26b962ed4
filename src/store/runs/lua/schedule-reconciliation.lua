-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- Sets the next reconciliation of a run. It is the alarm of steps that sleep or wait for long: their wake-ups get jobs when they are due
-- soon. A run that does nothing else is packed.
-- KEYS: run (hash), active runs (zset)
-- ARGV: member of the run in the active runs, now (ms), how long before its time a wake-up gets its job (ms), time until the next
--       reconciliation unless the run is idle (ms), latest time of the next reconciliation (ms) or '', '1' if the run has just
--       been reconciled, or ''
-- Returns {1}: done; {0}: the run has to be reconciled first, or has ended; {2, function ID, event ID, request ID, trace or false,
-- number of finished steps of the next call if one sleep alone is pending or -1; step, end (ms), step, …}: the wake-ups of these
-- steps need jobs first, and nothing else.
local run, active_runs = unpack(KEYS)
local member, now, soon, reconcile_after, latest, is_reconciled = unpack(ARGV)
now, soon, reconcile_after, is_reconciled = tonumber(now), tonumber(soon), tonumber(reconcile_after), is_reconciled == '1'
local status, answered_at, checkpoint, packed, function_id, event_id, request_id, trace = unpack(redis.call(
  'HMGET', run, FIELD_STATUS, FIELD_ANSWERED_AT, FIELD_CHECKPOINT, FIELD_PACKED, FIELD_FUNCTION_ID, FIELD_EVENT_ID,
  FIELD_REQUEST_ID, FIELD_TRACE
))
if not is_active(status) then
  return { 0 }
end
local contents = packed and packed_runs().read(run)
local pending = contents and contents[SUFFIX_PENDING] or redis.call('HGETALL', run .. SUFFIX_PENDING)
local done = contents and #contents[SUFFIX_STACK] or redis.call('LLEN', run .. SUFFIX_STACK)
local scheduled = tonumber(redis.call('ZSCORE', active_runs, member) or 0)
local is_answered = not checkpoint and tonumber(answered_at or -1) == done
if not is_reconciled and (#pending == 0 or not is_answered) then
  return { 0 }
end

local due, at, is_idle = {}, #pending == 0 and now + reconcile_after or math.huge, #pending > 0
for i = 1, #pending, 2 do
  local step, pending_step = pending[i], pending[i + 1]
  local sleeps = string.find(pending_step, PENDING_SLEEP, 1, true)
  local waits = string.find(pending_step, PENDING_WAIT, 1, true) and not string.find(pending_step, PENDING_BEGINNING, 1, true)
  -- Earlier versions stored times before 1970.
  local ends_at = tonumber(string.match(pending_step, '"until":(-?%d+)'))
  -- A wait may be lost, and so may the job of a wake-up whose time has passed.
  if not is_reconciled and (not sleeps or not ends_at or scheduled >= ends_at) then
    return { 0 }
  end
  local is_far = ends_at and ends_at > now + soon
  if is_far then
    at = math.min(at, ends_at - soon)
  elseif ends_at and not is_reconciled then
    due[#due + 1], due[#due + 2] = step, string.format('%d', ends_at)
  end
  if not (sleeps or waits) or not ends_at then
    at = math.min(at, now + reconcile_after)
  elseif not is_far then
    at = math.min(at, math.max(now, ends_at) + reconcile_after)
  end
  is_idle = is_idle and (sleeps or waits) and (is_far or not ends_at)
end
if #due > 0 then
  return { 2, function_id, event_id, request_id, trace, #pending == 2 and done + 1 or -1, unpack(due) }
end
redis.call('ZADD', active_runs, 'XX', math.min(at, tonumber(latest) or math.huge), member)
if is_idle and not packed then
  packed_runs().pack(run)
end
return { 1 }
