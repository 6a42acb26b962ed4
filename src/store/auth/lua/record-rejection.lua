-- Counts a rejected attempt together with earlier ones of the same kind.
-- KEYS: rejections (zset: ID by last repetition), entries (hash: ID -> JSON)
-- ARGV: JSON object: id, rejection (object), requestId, nowMs, maxEntries, ttlMs
-- Returns how often this kind was rejected.
local rejections, entries = unpack(KEYS)
local args = cjson.decode(ARGV[1])

local stored = redis.call('HGET', entries, args.id)
local entry = stored and cjson.decode(stored) or args.rejection
entry.count = (entry.count or 0) + 1
entry.firstAt = entry.firstAt or args.nowMs
entry.lastAt = args.nowMs
entry.requestId = args.requestId
redis.call('HSET', entries, args.id, cjson.encode(entry))
-- Microseconds: no two scripts run in the same microsecond.
local time = redis.call('TIME')
redis.call('ZADD', rejections, time[1] .. string.format('%06d', time[2]), args.id)
local excess = redis.call('ZCARD', rejections) - args.maxEntries
if excess > 0 then
  local oldest = redis.call('ZPOPMIN', rejections, excess)
  for i = 1, #oldest, 2 do
    redis.call('HDEL', entries, oldest[i])
  end
end
redis.call('PEXPIRE', rejections, args.ttlMs)
redis.call('PEXPIRE', entries, args.ttlMs)
return entry.count
