-- Adds events of one name and minute to the index of their name, and counts the new ones.
-- KEYS: index of the name (zset), counts of the minute (hash), minutes (zset), names (zset), waits for the name (hash),
--       paths of these waits (hash)
-- ARGV: name, start of the minute (ms), end of the counts (ms), now (ms), retention (ms), receipt of the last event (ms),
--       then for each event: receipt (ms), ID. Positional: this runs for every event, and ZADD takes the list as it is.
-- Returns whether there are waits for the name, now that it has the events: above 0, or 0.
local index, counts, minutes, names, waits, wait_paths = unpack(KEYS)
local name, minute, counts_end, now, retention, last_at = unpack(ARGV, 1, 6)
local FIRST_EVENT = 7
local TOTAL = ''
local oldest = now - retention

local function trim_and_renew(key, up_to)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', up_to)
  redis.call('PEXPIRE', key, retention)
end

local added = redis.call('ZADD', index, 'NX', unpack(ARGV, FIRST_EVENT))
if added > 0 then
  redis.call('HINCRBY', counts, name, added)
  redis.call('HINCRBY', counts, TOTAL, added)
  redis.call('PEXPIREAT', counts, counts_end)
  redis.call('ZADD', minutes, minute, minute)
  trim_and_renew(minutes, oldest - MINUTE_MS)
end
redis.call('ZADD', names, 'GT', last_at, name)
trim_and_renew(names, oldest)
trim_and_renew(index, oldest)
return redis.call('EXISTS', waits, wait_paths)
