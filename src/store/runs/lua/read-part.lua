-- @include runs/lua/lib/packed-run.lua
-- Reads finished steps or history of a run, packed or not.
-- KEYS: run (hash)
-- ARGV: suffix of the part; for memos: the step whose memo to read, absent: all; for lists: first entry to read, or how many of
--       the last, negated
-- Returns the fields of the hash, one memo or false, or the entries of the list.
local run = KEYS[1]
local suffix, which = unpack(ARGV)
local packed = redis.call('HEXISTS', run, FIELD_PACKED) == 1 and packed_runs().read(run)[suffix]

local function read_memos()
  if not which then
    return packed or redis.call('HGETALL', run .. suffix)
  end
  if not packed then
    return redis.call('HGET', run .. suffix, which)
  end
  for i = 1, #packed, 2 do
    if packed[i] == which then
      return packed[i + 1]
    end
  end
  return false
end

local function read_list()
  if not packed then
    return redis.call('LRANGE', run .. suffix, which, -1)
  end
  for _, entry in ipairs(redis.call('LRANGE', run .. suffix, 0, -1)) do
    packed[#packed + 1] = entry
  end
  local entries = {}
  for i = which == '0' and 1 or math.max(1, #packed + 1 + which), #packed do
    entries[#entries + 1] = packed[i]
  end
  return entries
end

if suffix == SUFFIX_MEMOS then
  return read_memos()
end
return read_list()
