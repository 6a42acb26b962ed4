-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- @include redis/lua/lib/read-fields.lua
-- Stores the results of several steps at once, with their history. First write wins: a stored memo never changes.
-- KEYS: run (hash), active runs (zset), job of the call that stores them (hash of BullMQ); the run again: none
-- ARGV: owner ('': whoever stores them may), executions of the job so far or '', maximum number of steps, maximum bytes of all memos, member
--       of the run in the active runs, time of the next reconciliation (ms) or '', 1 if the results are in race mode or 0, then for each step: its ID, memo (JSON), history entry
--       (JSON) or ''. Positional: this runs for every checkpoint.
-- Returns {outcome, length of the stack, run before it as a JSON object}; outcomes: 'stored' (all of them, or there already), 'stale' (the owner no longer continues
-- the run), 'ended', 'steps' or 'bytes' (too many: none is stored), 'gone'.
local run, active_runs, job = unpack(KEYS)
local owner, executions, max_steps, max_bytes, member, reconcile_at, race = unpack(ARGV, 1, 7)
local FIRST_STEP = 8
local memos, stack, pending, history = run .. SUFFIX_MEMOS, run .. SUFFIX_STACK, run .. SUFFIX_PENDING, run .. SUFFIX_HISTORY

local fields = read_fields(run)
local status, checkpoint = fields[FIELD_STATUS], fields[FIELD_CHECKPOINT]
if not status then
  return {'gone'}
end
if fields[FIELD_PACKED] then
  packed_runs().unpack(run)
  fields = read_fields(run)
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
for i = FIRST_STEP, #ARGV, 3 do
  local step, memo, entry = unpack(ARGV, i, i + 2)
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
local run_as_json = cjson.encode(fields)
if length + #ids > tonumber(max_steps) then
  return {'steps', length, run_as_json}
end
bytes = bytes + tonumber(fields[FIELD_MEMO_BYTES] or 0)
if #ids > 0 and bytes > tonumber(max_bytes) then
  return {'bytes', length, run_as_json}
end
if #ids > 0 then
  redis.call('HSET', memos, unpack(new_memos))
  length = redis.call('RPUSH', stack, unpack(ids))
  redis.call('HDEL', pending, unpack(ids))
  if #entries > 0 then
    redis.call('RPUSH', history, unpack(entries))
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
return {'stored', length, run_as_json}
