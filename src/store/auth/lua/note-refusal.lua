-- Counts a refused attempt, together with those like it.
-- KEYS[1] IDs of refusals by when they were last repeated (zset)  KEYS[2] ID -> what was refused, how often and when, as JSON (hash)
-- ARGV[1] ID  ARGV[2] what was refused (JSON object)  ARGV[3] request ID  ARGV[4] now (ms)  ARGV[5] most that are kept  ARGV[6] how long (ms)
-- Returns how often it was refused
local kept = redis.call('HGET', KEYS[2], ARGV[1])
local entry = cjson.decode(kept or ARGV[2])
entry.count = (entry.count or 0) + 1
entry.firstAt = entry.firstAt or tonumber(ARGV[4])
entry.lastAt = tonumber(ARGV[4])
entry.requestId = ARGV[3]
redis.call('HSET', KEYS[2], ARGV[1], cjson.encode(entry))
-- Microseconds: no two scripts run in the same.
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] .. string.format('%06d', time[2]), ARGV[1])
local excess = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[5])
if excess > 0 then
  local oldest = redis.call('ZPOPMIN', KEYS[1], excess)
  for i = 1, #oldest, 2 do redis.call('HDEL', KEYS[2], oldest[i]) end
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[6]) end
return entry.count
