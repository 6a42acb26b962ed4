-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- Stores the results of steps of one or more runs, with their history. Each run may have several steps. First write wins: a stored memo
-- never changes.
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
local max_steps, max_bytes = tonumber(ARGV[1]), tonumber(ARGV[2])
local ARGS_OF_RUN, ARGS_OF_STEP = 6, 3

-- `args`: position of the run's arguments.
local function store(run, job, args)
  local steps, owner, executions, member, reconcile_at, race = unpack(ARGV, args, args + ARGS_OF_RUN - 1)
  local memos, stack = run .. SUFFIX_MEMOS, run .. SUFFIX_STACK
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
  local length = redis.call('LLEN', stack)
  if owner ~= '' then
    if job ~= run and redis.call('HGET', job, JOB_EXECUTIONS) ~= executions then
      return {'stale'}
    end
    if tostring(length) ~= owner and checkpoint ~= length .. ':' .. owner then
      return {'stale'}
    end
  end

  local ids, new_memos, entries, is_new, bytes = {}, {}, {}, {}, 0
  local first = args + ARGS_OF_RUN
  for i = first, first + steps * ARGS_OF_STEP - 1, ARGS_OF_STEP do
    local step, memo, entry = ARGV[i], ARGV[i + 1], ARGV[i + 2]
    -- A repeated step counts once.
    if not is_new[step] and redis.call('HEXISTS', memos, step) == 0 then
      is_new[step] = true
      ids[#ids + 1] = step
      new_memos[#new_memos + 1], new_memos[#new_memos + 2] = step, memo
      bytes = bytes + #memo
      if entry ~= '' then
        entries[#entries + 1] = entry
      end
    end
  end
  if length + #ids > max_steps then
    return {'steps', length}
  end
  bytes = bytes + (memo_bytes or 0)
  if #ids > 0 and bytes > max_bytes then
    return {'bytes', length}
  end
  if #ids > 0 then
    local pending = run .. SUFFIX_PENDING
    redis.call('HSET', memos, unpack(new_memos))
    length = redis.call('RPUSH', stack, unpack(ids))
    redis.call('HDEL', pending, unpack(ids))
    if #entries > 0 then
      redis.call('RPUSH', run .. SUFFIX_HISTORY, unpack(entries))
    end
    local changed = { FIELD_MEMO_BYTES, bytes }
    if owner ~= '' then
      changed[#changed + 1], changed[#changed + 2] = FIELD_CHECKPOINT, length .. ':' .. owner
    end
    if race == '1' and redis.call('HLEN', pending) > 0 then
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
