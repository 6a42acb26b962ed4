-- @include runs/lua/lib/packed-run.lua
-- Copies finished steps to a run that has not begun: those that finished before a given step of the source run, or all if that step has
-- not finished.
-- KEYS: source run (hash, or string if only its steps are restored), run (hash)
-- ARGV: the step; the step as JSON, if it is to be called by itself, or ''
-- Returns the number of finished steps that the run has now; -1: the source run is no longer stored.
local source, run = unpack(KEYS)
local step, planned = unpack(ARGV)
local COPIED_AT_ONCE = 100

local is_run = redis.call('TYPE', source).ok == 'hash'
if is_run and redis.call('HEXISTS', source, FIELD_PACKED) == 1 then
  packed_runs().unpack(source)
end

local length = redis.call('LLEN', run .. SUFFIX_STACK)
local is_copied = length > 0 or redis.call('EXISTS', run .. SUFFIX_PENDING) == 1
if is_copied or redis.call('HGET', run, FIELD_STATUS) ~= STATUS_QUEUED then
  return length
end
if redis.call('EXISTS', source) == 0 then
  return -1
end
local before = {}
for _, id in ipairs(redis.call('LRANGE', source .. SUFFIX_STACK, 0, -1)) do
  if id == step then
    break
  end
  before[#before + 1] = id
end
local bytes = 0
for first = 1, #before, COPIED_AT_ONCE do
  local ids = { unpack(before, first, math.min(first + COPIED_AT_ONCE - 1, #before)) }
  local memos = redis.call('HMGET', source .. SUFFIX_MEMOS, unpack(ids))
  local fields = {}
  for i, id in ipairs(ids) do
    bytes = bytes + #memos[i]
    fields[2 * i - 1], fields[2 * i] = id, memos[i]
  end
  redis.call('HSET', run .. SUFFIX_MEMOS, unpack(fields))
  redis.call('RPUSH', run .. SUFFIX_STACK, unpack(ids))
end
if planned ~= '' then
  redis.call('HSET', run .. SUFFIX_PENDING, step, planned)
end
if bytes > 0 then
  redis.call('HSET', run, FIELD_MEMO_BYTES, bytes)
end
return #before
