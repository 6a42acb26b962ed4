-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- Stores the results of several steps at once, with their history. First write wins: a stored memo never changes.
-- KEYS: run (hash), active runs (zset), job of the call that stores them (hash of BullMQ); the run again: none
-- ARGV: owner ('': whoever stores them may), executions of the job so far or '', maximum number of steps, maximum bytes of all memos, member
--       of the run in the active runs, time of the next reconciliation (ms) or '', 1 if the results are in race mode or 0, then for each step: its ID, memo (JSON), history entry
--       (JSON) or ''. Positional: this runs for every checkpoint.
-- Returns {outcome, length of the stack, run}; outcomes: 'stored' (all of them, or there already), 'stale' (the owner no longer continues
-- the run), 'ended', 'steps' or 'bytes' (too many: none is stored), 'gone'.
local run, active_runs, job = unpack(KEYS)
local owner, executions, max_steps, max_bytes, member, reconcile_at, race = unpack(ARGV, 1, 7)
local FIRST_STEP = 8
local memos, stack, pending, history = run .. SUFFIX_MEMOS, run .. SUFFIX_STACK, run .. SUFFIX_PENDING, run .. SUFFIX_HISTORY

local status, checkpoint, packed = unpack(redis.call('HMGET', run, FIELD_STATUS, FIELD_CHECKPOINT, FIELD_PACKED))
if not status then
  return {'gone'}
end
if packed then
  packed_runs().unpack(run)
end
if not is_active(status) then
  return {'ended', 0, redis.call('HGETALL', run)}
end
local length = redis.call('LLEN', stack)
if owner ~= '' then
  if job ~= run and redis.call('HGET', job, JOB_EXECUTIONS) ~= executions then
    return {'stale', length, {}}
  end
  if tostring(length) ~= owner and checkpoint ~= length .. ':' .. owner then
    return {'stale', length, {}}
  end
end

local new, bytes = {}, 0
for i = FIRST_STEP, #ARGV, 3 do
  if redis.call('HEXISTS', memos, ARGV[i]) == 0 then
    new[#new + 1] = i
    bytes = bytes + #ARGV[i + 1]
  end
end
if length + #new > tonumber(max_steps) then
  return {'steps', length, redis.call('HGETALL', run)}
end
if #new > 0 and redis.call('HINCRBY', run, FIELD_MEMO_BYTES, bytes) > tonumber(max_bytes) then
  return {'bytes', length, redis.call('HGETALL', run)}
end
for _, i in ipairs(new) do
  local step, memo, entry = unpack(ARGV, i, i + 2)
  -- A repeated step counts once.
  if redis.call('HSETNX', memos, step, memo) == 1 then
    length = redis.call('RPUSH', stack, step)
    redis.call('HDEL', pending, step)
    if entry ~= '' then
      redis.call('RPUSH', history, entry)
    end
  end
end
if owner ~= '' and #new > 0 then
  redis.call('HSET', run, FIELD_CHECKPOINT, length .. ':' .. owner)
end
if race == '1' and #new > 0 and redis.call('HLEN', pending) > 0 then
  redis.call('HSET', run, FIELD_RACED_AT, length)
end
if reconcile_at ~= '' then
  redis.call('ZADD', active_runs, 'XX', reconcile_at, member)
end
return {'stored', length, redis.call('HGETALL', run)}
