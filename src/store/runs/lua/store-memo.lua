-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- @include runs/lua/lib/append-history.lua
-- @include runs/lua/lib/record-answered.lua
-- @include redis/lua/lib/read-fields.lua
-- @include redis/lua/lib/add-jobs.lua
-- @include redis/lua/lib/finish-job.lua
-- Stores the result of a step, with its history entry if it waited, and decides whether to call the function again. First write wins: a
-- stored memo never changes.
-- KEYS: run (hash)
--       job that ends with the step if nothing else is left to do but the next call (hash of BullMQ); the run again: none
-- ARGV: step
--       memo (JSON)
--       maximum number of steps
--       maximum bytes of all memos
--       1 if the result is in race mode, or 0
--       the pending step that `entry` is about, or ''
--       entry (JSON), or ''
--       if the step came alone with the response to a call: number of finished steps when the call was made; otherwise ''
--       of the job of the next call: ID, name, data and options (JSON)
--       of the job that ends: ID, token of its lock, now (ms), duration of locks (ms), '1' to take the next job
--       then the entries of the call (JSON)
--       Positional: this runs for every step.
-- Returns {outcome, length of the stack, run as a JSON object, the pending step or false, 1 to call the function again, the result of
--         finish_job}. Outcomes:
--         'stored';
--         'waits': nothing is stored, because the pending step needs another entry;
--         'there': an earlier memo is kept;
--         'ended': the run has ended;
--         'steps' or 'bytes': there are too many;
--         'gone': there is no such run.
local run, job = unpack(KEYS)
local step, memo, max_steps, max_bytes, race, waiting, entry, answered = unpack(ARGV, 1, 8)
local NEXT_JOB, ENDED_JOB, FIRST_ENTRY = 9, 13, 18
local memos, stack, pending = run .. SUFFIX_MEMOS, run .. SUFFIX_STACK, run .. SUFFIX_PENDING
local of = read_fields(run)
if of[FIELD_PACKED] then
  packed_runs().unpack(run)
  of = read_fields(run)
end
local status, answered_at, raced_at = of[FIELD_STATUS], of[FIELD_ANSWERED_AT], of[FIELD_RACED_AT]
if not status then
  return {'gone'}
end
-- Records what came with the step.
local function record_call()
  if answered then
    append_history(run, FIRST_ENTRY)
    if answered ~= '' then
      record_answered(run, answered, answered_at, of[FIELD_CHECKPOINT])
    end
  end
end
local fields = cjson.encode(of)
if not is_active(status) then
  record_call()
  return {'ended', 0, fields}
end
local length = redis.call('LLEN', stack)
-- A step in race mode has ended since the last answered call.
local raced = tonumber(raced_at or -1) > tonumber(answered_at or -1)
if redis.call('HEXISTS', memos, step) == 1 then
  local is_due = tonumber(answered_at or -1) < length and (raced or redis.call('HLEN', pending) == 0)
  record_call()
  return {'there', length, fields, false, is_due and 1 or 0}
end
if length >= tonumber(max_steps) then
  record_call()
  return {'steps', length, fields}
end
local pending_step = redis.call('HGET', pending, step)
-- The entry of a step that a call runs is in the history of that call.
local has_waited = pending_step and not string.find(pending_step, PENDING_PLANNED, 1, true)
if has_waited and pending_step ~= waiting then
  return {'waits', length, fields, pending_step}
end
record_call()
if redis.call('HINCRBY', run, FIELD_MEMO_BYTES, #memo) > tonumber(max_bytes) then
  return {'bytes', length, fields}
end
redis.call('HSET', memos, step, memo)
if pending_step then
  redis.call('HDEL', pending, step)
end
if has_waited then
  redis.call('RPUSH', run .. SUFFIX_HISTORY, entry)
end
length = redis.call('RPUSH', stack, step)
local is_due = redis.call('HLEN', pending) == 0
if not is_due and (raced or race == '1' or (pending_step and string.find(pending_step, PENDING_RACE, 1, true))) then
  redis.call('HSET', run, FIELD_RACED_AT, length)
  is_due = true
end
-- The job of the next call was made for this number of finished steps: no other step may have finished meanwhile.
local finished = {}
if is_due and job ~= run and length == tonumber(answered) + 1 then
  local id, token, now, lock_ms, takes_next = unpack(ARGV, ENDED_JOB, FIRST_ENTRY - 1)
  add_jobs(string.sub(job, 1, -1 - #id), now, { unpack(ARGV, NEXT_JOB, ENDED_JOB - 1) })
  finished = finish_job(job, id, token, now, lock_ms, takes_next)
end
return {'stored', length, fields, pending_step, is_due and 1 or 0, finished}
