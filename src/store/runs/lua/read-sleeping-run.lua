-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- @include runs/lua/lib/run-contents.lua
-- Reads a run that does nothing but sleep or wait until a time, to offload it (offload-run.lua).
-- KEYS: run (hash), active runs (zset)
-- ARGV: member of the run in the active runs, time (ms), maximum bytes of its contents, names of fields
-- Returns {next reconciliation (ms), time of Redis (µs), contents, pending steps: ID, JSON, …, number of finished steps, values
-- of the fields};
-- {}: the run does more, or has more bytes.
local run, active_runs = unpack(KEYS)
local member, time, max_bytes = unpack(ARGV, 1, 3)
local FIRST_FIELD = 4
time = tonumber(time)

local alarm = redis.call('ZSCORE', active_runs, member)
if not alarm or tonumber(alarm) <= time then
  return {}
end
local status, answered_at, checkpoint, packed, memo_bytes = unpack(
  redis.call('HMGET', run, FIELD_STATUS, FIELD_ANSWERED_AT, FIELD_CHECKPOINT, FIELD_PACKED, FIELD_MEMO_BYTES)
)
if not is_active(status) or checkpoint then
  return {}
end
-- Results of steps can have 32 MiB, and Redis is blocked while they are read, so their size is checked first.
if tonumber(memo_bytes or 0) > tonumber(max_bytes) then
  return {}
end
local parts = packed and packed_runs().read(run)
local pending = parts and parts[SUFFIX_PENDING] or redis.call('HGETALL', run .. SUFFIX_PENDING)
local done = parts and #parts[SUFFIX_STACK] or redis.call('LLEN', run .. SUFFIX_STACK)
if #pending == 0 or tonumber(answered_at or -1) ~= done then
  return {}
end
for i = 2, #pending, 2 do
  local step = pending[i]
  local sleeps = string.find(step, PENDING_SLEEP, 1, true)
  local waits = string.find(step, PENDING_WAIT, 1, true) and not string.find(step, PENDING_BEGINNING, 1, true)
  local ends_at = tonumber(string.match(step, '"until":(-?%d+)'))
  if not (sleeps or waits) or not ends_at or ends_at <= time then
    return {}
  end
end
local contents = run_contents(run)
if #contents > tonumber(max_bytes) then
  return {}
end
local seconds, microseconds = unpack(redis.call('TIME'))
return {
  alarm, string.format('%d', seconds * 1000000 + microseconds), contents, pending, done,
  redis.call('HMGET', run, unpack(ARGV, FIRST_FIELD)),
}
