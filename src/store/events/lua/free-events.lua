-- Removes archived events of one name and minute from the index of their name and from the counts of their minute.
-- KEYS: index of the name (zset), counts of the minute (hash), minutes (zset)
-- ARGV: name, start of the minute (ms), then the IDs
-- Returns the number of events that were in the index.
local index, counts, minutes = unpack(KEYS)
local name, minute = unpack(ARGV, 1, 2)
local FIRST_ID = 3
local TOTAL = ''

local removed = redis.call('ZREM', index, unpack(ARGV, FIRST_ID))
if removed > 0 then
  if redis.call('HINCRBY', counts, name, -removed) <= 0 then
    redis.call('HDEL', counts, name)
  end
  if redis.call('HINCRBY', counts, TOTAL, -removed) <= 0 then
    redis.call('DEL', counts)
    redis.call('ZREM', minutes, minute)
  end
end
return removed
