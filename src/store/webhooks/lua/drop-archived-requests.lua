-- @include redis/lua/lib/is-before.lua
-- Records which requests of a webhook's log are archived, and drops requests from the log: the given requests, and the oldest beyond the
-- maximum number. Requests that are not archived yet stay. What destinations get of archived requests is in the archive, too.
-- KEYS: log (zset of IDs, every score 0)
--       sizes (hash: ID -> bytes, 'total', and 'dropped', the highest ID that was dropped)
--       rejected requests of the log (zset of IDs)
--       requests that the filter dropped (same)
--       requests that failed verification (same)
--       requests to archive (same)
--       due logs (zset: webhook ID by time)
-- ARGV: JSON object:
--       webhookId, maxRequests
--       requestPrefix, originalPrefix: key of a request, and of what destinations get of it, up to its ID
--       archived: IDs that the archive has
--       missing: IDs that the archive does not have
--       drop: IDs to drop if they are archived
--       nowMs, lookAgainMs, ttlMs
-- Returns the number of dropped requests.
local log, sizes, rejected, filtered, unverified, unarchived, due = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local AT_ONCE = 500

for _, id in ipairs(args.archived) do
  redis.call('ZREM', unarchived, id)
  redis.call('DEL', args.originalPrefix .. id)
end
for _, id in ipairs(args.missing) do
  if redis.call('ZSCORE', log, id) then
    redis.call('ZADD', unarchived, 0, id)
  end
end

local dropped, highest = 0, redis.call('HGET', sizes, 'dropped') or ''
local function drop(id)
  if not redis.call('ZSCORE', log, id) or redis.call('ZSCORE', unarchived, id) then
    return
  end
  redis.call('ZREM', log, id)
  for _, index in ipairs({ rejected, filtered, unverified }) do
    redis.call('ZREM', index, id)
  end
  redis.call('HINCRBY', sizes, 'total', -(redis.call('HGET', sizes, id) or 0))
  redis.call('HDEL', sizes, id)
  redis.call('DEL', args.requestPrefix .. id)
  dropped = dropped + 1
  if is_before(highest, id) then
    highest = id
  end
end
for _, id in ipairs(args.drop) do
  drop(id)
end
local excess = redis.call('ZCARD', log) - args.maxRequests
if excess > 0 then
  for _, id in ipairs(redis.call('ZRANGE', log, 0, math.min(excess, AT_ONCE) - 1)) do
    drop(id)
  end
end

if dropped > 0 then
  redis.call('HSET', sizes, 'dropped', highest)
  redis.call('PEXPIRE', sizes, args.ttlMs)
end
if redis.call('ZCARD', unarchived) > 0 then
  redis.call('PEXPIRE', unarchived, args.ttlMs)
  redis.call('ZADD', due, args.nowMs, args.webhookId)
elseif redis.call('EXISTS', log) == 1 then
  redis.call('ZADD', due, args.nowMs + args.lookAgainMs, args.webhookId)
else
  redis.call('ZREM', due, args.webhookId)
end
redis.call('PEXPIRE', due, args.ttlMs)
return dropped
