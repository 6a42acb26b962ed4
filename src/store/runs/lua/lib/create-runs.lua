-- Creates runs of one environment, each once, and adds the jobs of their first calls. Needs redis/lua/lib/add-jobs.lua.
-- `keys`: active runs (zset), active runs of the environment (zset), offloaded runs (hash), waiting jobs of runs (list), functions whose
--   runs must not start (hash).
-- `args`: time of creation (ms), retention of the lists of events' runs (ms), then prefixes of IDs: of a run's member in the active runs,
--   the key of a run, the key of events' runs (a slice follows), its overflow key (an event ID follows), the index of a function's
--   active runs; then the runs as JSON, each an array: ID, time of the first reconciliation (ms), function ID, event ID, whether it
--   is created long after its event, when its first call starts (ms) if the worker takes its job, or false, then fields and
--   values of its hash (run-fields.ts), that of its version first; if there are jobs, the token of a worker that takes some
--   at once or '', duration of its locks (ms), how many it takes, and of each job its ID, name, data and options (JSON).
-- Returns the IDs of the jobs that the worker has taken, and those of the runs whose first calls have started; {} without jobs.
local function create_runs(keys, args)
  local active_runs, active_runs_in_env, offloaded_runs, waiting_jobs, held_functions = unpack(keys)
  local created_at, retention, member_prefix, run_prefix, event_runs_prefix, overflow_prefix, index_prefix, runs = unpack(args)
  local FIRST_FIELD, TAKER, FIRST_JOB = 7, 9, 12

  local are_offloaded = redis.call('EXISTS', offloaded_runs) == 1

  local taken, is_taken = {}, {}
  if args[FIRST_JOB] then
    local prefix = string.sub(waiting_jobs, 1, -1 - #QUEUE_WAITING)
    taken = add_jobs(prefix, created_at, { unpack(args, FIRST_JOB) }, unpack(args, TAKER, FIRST_JOB - 1))
    for _, id in ipairs(taken) do
      is_taken[id] = true
    end
  end

  local started = {}
  local ids_by_event, overflow_ids_by_event = {}, {}
  for _, row in ipairs(cjson.decode(runs)) do
    local id, reconcile_at, function_id, event_id, is_overflow, starts_at = unpack(row, 1, FIRST_FIELD - 1)
    local run = run_prefix .. id
    local is_offloaded = are_offloaded and redis.call('HEXISTS', offloaded_runs, id) == 1
    if not is_offloaded and redis.call('EXISTS', run) == 0 then
      local status = STATUS_QUEUED
      -- The call finds out whether a held function holds this run (load-call.lua).
      if starts_at and is_taken[id] and redis.call('HEXISTS', held_functions, function_id) == 0 then
        status = STATUS_RUNNING
        started[#started + 1] = id
        row[#row + 1] = FIELD_STARTED_AT
        row[#row + 1] = starts_at
      end
      redis.call(
        'HSET', run, FIELD_FUNCTION_ID, function_id, FIELD_EVENT_ID, event_id, FIELD_STATUS, status, FIELD_ATTEMPT, 0,
        FIELD_QUEUED_AT, created_at, unpack(row, FIRST_FIELD)
      )
      redis.call('ZADD', active_runs, reconcile_at, member_prefix .. id)
      redis.call('ZADD', active_runs_in_env, created_at, id)
      redis.call('ZADD', index_prefix .. function_id, created_at, id)
      if row[FIRST_FIELD] == FIELD_VERSION then
        redis.call('ZADD', active_runs_in_env .. ':' .. row[FIRST_FIELD + 1], created_at, id)
      end
      local ids = is_overflow and overflow_ids_by_event or ids_by_event
      ids[event_id] = (ids[event_id] or '') .. id
    end
  end
  local changed = {}
  for event_id, ids in pairs(ids_by_event) do
    local key = event_runs_prefix .. string.sub(event_id, 1, SLICE_LENGTH)
    local field = string.sub(event_id, SLICE_LENGTH + 1)
    if redis.call('HSETNX', key, field, ids) == 0 then
      redis.call('HSET', key, field, redis.call('HGET', key, field) .. ids)
    end
    changed[key] = true
  end
  for key in pairs(changed) do
    redis.call('PEXPIRE', key, retention)
  end
  for event_id, ids in pairs(overflow_ids_by_event) do
    redis.call('APPEND', overflow_prefix .. event_id, ids)
    redis.call('PEXPIRE', overflow_prefix .. event_id, retention)
  end
  return { taken, started }
end
