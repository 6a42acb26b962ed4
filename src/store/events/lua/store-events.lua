-- Stores events in their bucket, each unless it is stored already, and renews the bucket.
-- KEYS: bucket (hash)
-- ARGV: TTL (ms), then for each event: its field, its text. Positional: this runs for every event, and HSET takes the list as it is.
-- Returns the positions (from 0) of the events that were stored before.
local bucket, ttl = KEYS[1], ARGV[1]
local FIRST_FIELD = 2

-- The usual case: all events of a batch are new.
local function all_new()
  local fields, seen = {}, {}
  for i = FIRST_FIELD, #ARGV, 2 do
    local field = ARGV[i]
    if seen[field] then
      return false
    end
    seen[field] = true
    fields[#fields + 1] = field
  end
  for _, text in ipairs(redis.call('HMGET', bucket, unpack(fields))) do
    if text then
      return false
    end
  end
  return true
end

local before = {}
if all_new() then
  redis.call('HSET', bucket, unpack(ARGV, FIRST_FIELD))
else
  for i = FIRST_FIELD, #ARGV, 2 do
    if redis.call('HSETNX', bucket, ARGV[i], ARGV[i + 1]) == 0 then
      before[#before + 1] = (i - FIRST_FIELD) / 2
    end
  end
end
-- GT by itself sets no TTL on a key without one.
redis.call('PEXPIRE', bucket, ttl, 'NX')
redis.call('PEXPIRE', bucket, ttl, 'GT')
return before
