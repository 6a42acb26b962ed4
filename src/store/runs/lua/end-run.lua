-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- @include runs/lua/lib/add-memos.lua
-- @include runs/lua/lib/remove-waits.lua
-- @include runs/lua/lib/count-end.lua
-- @include redis/lua/lib/read-fields.lua
-- @include redis/lua/lib/finish-job.lua
-- @include runs/lua/lib/append-history.lua
-- Ends a run, once: the first ending is kept. The run moves from the indexes of active runs to those of runs with the same ending.
-- KEYS: run (hash)
--       active runs (zset)
--       active runs of the environment (zset)
--       active runs of the function (zset)
--       runs of the function with this ending (zset)
--       minutes with such runs (zset)
--       waits for the event that reports the end (hash)
--       paths of these waits (hash)
--       runs whose end is not finished (zset)
--       job that ends with the run if nothing else is left to do (hash of BullMQ); the run again: none
-- ARGV, by position, because this runs for every run, and HSET takes the fields as they are:
--       run ID
--       retention (ms)
--       member of the run in the active runs
--       now (ms)
--       key of the ended runs up to the segment
--       entries that a segment holds
--       number of deferred functions that are started
--       '1' if the run may have jobs besides its steps
--       ID of the job
--       token of its lock
--       duration of locks (ms)
--       '1' to take the next job
--       '1' if runs in another partition may wait for this end: an end with its job then stays unfinished until they were looked up
--       number of the first history entry
--       '1' if the entries are of interest only after checkpoints
--       number of steps that finished with the run
--       maximum number of steps of a run
--       maximum bytes of all its memos
--       then fields and values to set
--       then for each of these steps: its ID, memo (JSON), ''
--       then history entries (JSON)
-- Returns {3, 'steps' or 'bytes'}: the run would have too many steps, or bytes in them; nothing is stored
--         {2}: functions that the run has deferred must be started first
--         {1, number of finished steps, pending steps (ID, JSON, …), number of keys with waits, waits in other partitions (key,
--           location, …), the reply of finish_job}: ended now
--         {0}: the run had ended, or does not exist
-- With {1} and {0}, history is added.
local run, active_runs, active_runs_in_env, active_index, ended_index, ended_minutes, waits, wait_paths, unfinished_ends, job =
  unpack(KEYS)
local run_id, retention, member, now, segment_prefix, segment_size, started_defers, has_jobs, job_id, token, lock_ms, takes_next, awaited_elsewhere,
  first_entry, only_after_checkpoints, steps, max_steps, max_bytes = unpack(ARGV, 1, 18)
local FIRST_FIELD = 19
local first_step = first_entry - steps * ARGS_OF_STEP
local TRIMMED_AT_ONCE = 8

local status, queued_at, former_error, defers, checkpoint, packed, version, paused, memo_bytes = unpack(redis.call(
  'HMGET', run, FIELD_STATUS, FIELD_QUEUED_AT, FIELD_ERROR, FIELD_DEFERS, FIELD_CHECKPOINT, FIELD_PACKED, FIELD_VERSION,
  FIELD_PAUSED, FIELD_MEMO_BYTES
))
local adds_history = #ARGV >= tonumber(first_entry) and (checkpoint or only_after_checkpoints ~= '1')
if not is_active(status) then
  if status and adds_history then
    append_history(run, tonumber(first_entry))
  end
  return {0}
end
if defers and tonumber(defers) ~= tonumber(started_defers) then
  return {2}
end
if packed then
  packed_runs().unpack(run)
end
if steps ~= '0' then
  local outcome, _, bytes = add_memos(run, memo_bytes, steps, first_step, max_steps, max_bytes)
  if outcome ~= 'stored' then
    return {3, outcome}
  end
  if bytes then
    redis.call('HSET', run, FIELD_MEMO_BYTES, bytes)
  end
end
local pending, history = run .. SUFFIX_PENDING, run .. SUFFIX_HISTORY
local parts = {}
for i, suffix in ipairs(PART_SUFFIXES) do
  parts[i] = run .. suffix
end
-- Most runs have no steps, and nothing beside their hash.
local has_parts = adds_history or redis.call('EXISTS', unpack(parts)) > 0
local finished_steps = has_parts and redis.call('LLEN', run .. SUFFIX_STACK) or 0
local pending_steps = has_parts and redis.call('HGETALL', pending) or {}

-- Removes index entries whose keys have expired: checks a few with a score of at most `up_to`.
local function trim(index, up_to, key_prefix)
  local old = redis.call('ZCOUNT', index, '-inf', up_to)
  if old > 0 then
    -- Starts at a random entry: the clock is random enough.
    local first = now % math.max(1, old - TRIMMED_AT_ONCE + 1)
    for _, entry in ipairs(redis.call('ZRANGE', index, first, first + TRIMMED_AT_ONCE - 1)) do
      if redis.call('EXISTS', key_prefix .. entry) == 0 then
        redis.call('ZREM', index, entry)
      end
    end
  end
end

if former_error or checkpoint then
  redis.call('HDEL', run, FIELD_ERROR, FIELD_CHECKPOINT)
end
if defers then
  redis.call('HDEL', run, FIELD_DEFERS)
  redis.call('DEL', run .. SUFFIX_DEFERS)
end
if paused then
  redis.call('HDEL', run, FIELD_PAUSED)
  redis.call('ZREM', active_runs_in_env .. SUFFIX_PAUSED_RUNS, run_id)
end
redis.call('HSET', run, unpack(ARGV, FIRST_FIELD, first_step - 1))
redis.call('ZREM', active_runs, member)
redis.call('ZREM', active_runs_in_env, run_id)
redis.call('ZREM', active_index, run_id)
if version then
  local pinned_runs = active_runs_in_env .. ':' .. version
  redis.call('ZREM', pinned_runs, run_id)
  -- A paused run was counted as a failure when it paused.
  if not paused then
    count_end(pinned_runs, ARGV[FIRST_FIELD + 1])
  end
end
redis.call('ZADD', ended_index, queued_at, run_id)
if adds_history then
  append_history(run, tonumber(first_entry))
end
-- Pending steps end with the run. A planned step of a failed run has failed attempts, or was never called.
local is_cancelled = ARGV[FIRST_FIELD + 1] == STATUS_CANCELLED
for i = 1, #pending_steps, 2 do
  local step, pending_step = pending_steps[i], pending_steps[i + 1]
  if is_cancelled or not string.find(pending_step, PENDING_PLANNED, 1, true) then
    redis.call('RPUSH', history, '{"stepId":' .. cjson.encode(step) .. ',"endedAt":' .. now .. ',"pending":' .. pending_step .. '}')
  end
end
-- The process that ends the run removes its jobs; if it dies, another process removes them.
if #pending_steps > 0 then
  redis.call('RENAME', pending, run .. SUFFIX_LEFT_OVER)
end
if #pending_steps > 0 or has_jobs == '1' then
  redis.call('ZADD', unfinished_ends, now, member)
end
redis.call('PEXPIRE', ended_index, retention)
redis.call('PEXPIRE', run, retention)
local elsewhere = {}
if has_parts then
  redis.call('DEL', run .. SUFFIX_REQUESTS)
  elsewhere = remove_waits(run)
  for _, suffix in ipairs(ENDED_SUFFIXES) do
    redis.call('PEXPIRE', run .. suffix, retention)
  end
end
-- Runs are sorted by their creation and expire by their end.
local oldest = now - retention
trim(ended_index, oldest, string.sub(run, 1, -1 - #run_id))

-- Finds the first segment with room; the shortest takes any number of entries.
local segments = {}
for i, length in ipairs(SEGMENT_LENGTHS_MS) do
  segments[i] = segment_prefix .. length .. ':' .. queued_at - queued_at % length
  if i < #SEGMENT_LENGTHS_MS and redis.call('LLEN', segments[i]) < tonumber(segment_size) then
    break
  end
end
local segment = segments[#segments]
redis.call('RPUSH', segment, run_id .. queued_at % MINUTE_MS)
-- A segment lives as long as its runs and at most a minute longer, so that not every run renews it. It must not outlive the longer segments
-- that have to be full for it to be found, nor the index of minutes: all of them are renewed together.
if redis.call('PTTL', segment) < tonumber(retention) then
  local minute = queued_at - queued_at % MINUTE_MS
  redis.call('ZADD', ended_minutes, minute, minute)
  for i = #segments, 1, -1 do
    redis.call('PEXPIRE', segments[i], retention + MINUTE_MS)
  end
  redis.call('PEXPIRE', ended_minutes, retention + MINUTE_MS)
  trim(ended_minutes, oldest - MINUTE_MS, segment_prefix .. MINUTE_MS .. ':')
end
local awaited = redis.call('EXISTS', waits, wait_paths)
local is_done = job ~= run and #pending_steps == 0 and awaited == 0 and #elsewhere == 0
local finished = is_done and finish_job(job, job_id, token, now, lock_ms, takes_next) or {}
if #finished > 0 and awaited_elsewhere == '1' then
  redis.call('ZADD', unfinished_ends, now, member)
end
return {1, finished_steps, pending_steps, awaited, elsewhere, finished}
