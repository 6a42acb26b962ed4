-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- @include runs/lua/lib/add-memos.lua
-- Stores the results of steps of one or more runs, with their history. Each run may have several steps.
-- KEYS: active runs (zset)
--       then for each run: run (hash)
--         job of the call that stores the steps (hash of BullMQ); the run again: none
-- ARGV, by position, because this runs for every checkpoint:
--       maximum number of steps of a run
--       maximum bytes of all its memos
--       then for each run: number of its steps
--         owner; '': anyone may store the steps
--         executions of the job so far, or ''
--         member of the run in the active runs
--         time of the next reconciliation (ms), or ''
--         1: the results are in race mode; 0: they are not
--         then for each step: its ID, memo (JSON), history entry (JSON) or ''
-- Returns for each run {outcome, length of the stack}; 'stored' also has function, event, time of creation, time of start, replay
-- and error, each as before or false. Outcomes:
--   'stored': all steps, now or before
--   'stale': the owner no longer continues the run
--   'steps', 'bytes': too many, so none is stored
--   'ended', 'gone'
local active_runs = KEYS[1]
local max_steps, max_bytes = unpack(ARGV, 1, 2)
local ARGS_OF_RUN = 6

-- `args`: position of the run's arguments.
local function store(run, job, args)
  local steps, owner, executions, member, reconcile_at, race = unpack(ARGV, args, args + ARGS_OF_RUN - 1)
  local status, checkpoint, memo_bytes, packed, function_id, event_id, queued_at, started_at, replay, error = unpack(redis.call(
    'HMGET', run, FIELD_STATUS, FIELD_CHECKPOINT, FIELD_MEMO_BYTES, FIELD_PACKED, FIELD_FUNCTION_ID, FIELD_EVENT_ID, FIELD_QUEUED_AT,
    FIELD_STARTED_AT, FIELD_REPLAY, FIELD_ERROR
  ))
  if not status then
    return {'gone'}
  end
  if packed then
    packed_runs().unpack(run)
  end
  if not is_active(status) then
    return {'ended'}
  end
  if owner ~= '' then
    if job ~= run and redis.call('HGET', job, JOB_EXECUTIONS) ~= executions then
      return {'stale'}
    end
    local finished_steps = redis.call('LLEN', run .. SUFFIX_STACK)
    if tostring(finished_steps) ~= owner and checkpoint ~= finished_steps .. ':' .. owner then
      return {'stale'}
    end
  end

  local outcome, length, bytes = add_memos(run, memo_bytes, steps, args + ARGS_OF_RUN, max_steps, max_bytes)
  if outcome ~= 'stored' then
    return {outcome, length}
  end
  if bytes then
    local changed = { FIELD_MEMO_BYTES, bytes }
    if owner ~= '' then
      changed[#changed + 1], changed[#changed + 2] = FIELD_CHECKPOINT, length .. ':' .. owner
    end
    if race == '1' and redis.call('HLEN', run .. SUFFIX_PENDING) > 0 then
      changed[#changed + 1], changed[#changed + 2] = FIELD_RACED_AT, length
    end
    redis.call('HSET', run, unpack(changed))
  end
  if reconcile_at ~= '' then
    redis.call('ZADD', active_runs, 'XX', reconcile_at, member)
  end
  return {'stored', length, function_id, event_id, queued_at, started_at, replay, error}
end

local replies, args = {}, 3
while ARGV[args] do
  local n = 2 * #replies + 2
  replies[#replies + 1] = store(KEYS[n], KEYS[n + 1], args)
  args = args + ARGS_OF_RUN + ARGV[args] * ARGS_OF_STEP
end
return replies
