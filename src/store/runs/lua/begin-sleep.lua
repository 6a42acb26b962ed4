-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- @include events/lua/lib/stored-event.lua
-- @include runs/lua/lib/begin-step.lua
-- @include runs/lua/lib/append-history.lua
-- @include runs/lua/lib/record-answered.lua
-- @include redis/lua/lib/read-fields.lua
-- @include redis/lua/lib/add-delayed-job.lua
-- @include redis/lua/lib/finish-job.lua
-- Begins a sleep that is the whole response to a call. If the run waits for nothing else, the call after it is scheduled,
-- and the job of the call ends.
-- KEYS: run (hash), bucket of its event (hash), overflow key of its event (string), active runs (zset)
--       job that ends if nothing else is left to do (hash of BullMQ); the run again: none
-- ARGV, by position, because this runs for every sleep:
--       field of the event in its bucket, maximum number of steps of a run, step, pending step (JSON), how long the event must stay (ms)
--       number of finished steps when the call was made
--       of the job of the call after the sleep: ID up to its number of finished steps, when it is due (ms), name, data without
--         that number (JSON), and options (JSON)
--       time of the reconciliation that adds this job later (ms), or ''; member of the run in the active runs
--       of the job that ends: ID, token of its lock, now (ms), duration of locks (ms), '1' to take the next job
--       then the entries of the call (JSON)
-- Returns {the pending step as it is stored; '': the step is finished or the run has ended; 'steps': the run has too many,
--         the result of finish_job; {}: the job has not ended,
--         number of finished steps of the call after the sleep, if the run waits for nothing else and that call has no job}.
local run, bucket, overflow, active_runs, job = unpack(KEYS)
local event_field, max_steps, step, pending_step, event_ttl, answered = unpack(ARGV, 1, 6)
local next_id, due_at, name, data, options, reconcile_at, member = unpack(ARGV, 7, 13)
local job_id, token, now, lock_ms, takes_next = unpack(ARGV, 14, 18)
local FIRST_ENTRY = 19
local status, packed, answered_at, checkpoint = unpack(redis.call(
  'HMGET', run, FIELD_STATUS, FIELD_PACKED, FIELD_ANSWERED_AT, FIELD_CHECKPOINT
))
if packed then
  packed_runs().unpack(run)
end
if not is_active(status) then
  if status then
    append_history(run, FIRST_ENTRY)
  end
  return {'', {}}
end
append_history(run, FIRST_ENTRY)
local done = redis.call('LLEN', run .. SUFFIX_STACK)
local count = done + redis.call('HLEN', run .. SUFFIX_PENDING)
local stored = begin_step(run, count, max_steps, { bucket, event_field, overflow }, step, pending_step, event_ttl)
if stored == 'steps' then
  return {stored, {}}
end
record_answered(run, answered, answered_at, checkpoint)
if stored ~= pending_step or redis.call('HLEN', run .. SUFFIX_PENDING) ~= 1 then
  return {stored, {}}
end
if job == run then
  return {stored, {}, done + 1}
end
if reconcile_at ~= '' then
  redis.call('ZADD', active_runs, 'XX', 'LT', reconcile_at, member)
else
  local at = done + 1
  local queue = string.sub(job, 1, -1 - #job_id)
  add_delayed_job(queue, now, due_at, next_id .. at, name, string.sub(data, 1, -2) .. ',"at":' .. at .. '}', options, WAKE_UP_PRIORITY)
end
return {stored, finish_job(job, job_id, token, now, lock_ms, takes_next)}
