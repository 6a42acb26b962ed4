-- @include redis/lua/lib/is-before.lua
-- Adds requests to a webhook's log, and drops the oldest beyond the maximum number, age or bytes. The newest request always stays.
-- KEYS: log (zset of IDs, every score 0)
--       sizes (hash: ID -> bytes, 'total', and 'dropped', the highest ID that was dropped)
--       rejected requests of the log (zset of IDs, every score 0)
--       requests that the filter dropped (same)
--       requests that failed verification (same)
--       with an archive: requests to archive (same)
--       with an archive: due logs (zset: webhook ID by time)
-- ARGV: JSON object:
--       maxRequests, maxBytes
--       oldestId: first ID that is young enough
--       ttlMs
--       requestPrefix: key of a request up to its ID
--       webhookId, nowMs: only with an archive
--       then for each request: ID, bytes, outcome, result of the verification ('': none), summary, request, body.
--       Positional, because bodies are bytes, which JSON cannot represent.
-- Returns the number of dropped requests.
local log, sizes, rejected, filtered, unverified, unarchived, due = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if not args.webhookId then
  -- Absent without an archive. In a cluster, the last key never exists.
  unarchived, due = nil, nil
end
local FIRST_REQUEST, ARGS_PER_REQUEST = 2, 7
local DROPPED_AT_ONCE = 500

local added = 0
for i = FIRST_REQUEST, #ARGV, ARGS_PER_REQUEST do
  local id, bytes, outcome, verification, summary, request, body = unpack(ARGV, i, i + ARGS_PER_REQUEST - 1)
  local key = args.requestPrefix .. id
  redis.call('HSET', key, 'summary', summary, 'request', request, 'body', body)
  redis.call('PEXPIRE', key, args.ttlMs)
  redis.call('ZADD', log, 0, id)
  redis.call('HSET', sizes, id, bytes)
  if outcome == 'rejected' then
    redis.call('ZADD', rejected, 0, id)
  elseif outcome == 'filtered' then
    redis.call('ZADD', filtered, 0, id)
  end
  if verification == 'failed' then
    redis.call('ZADD', unverified, 0, id)
  end
  if unarchived then
    redis.call('ZADD', unarchived, 0, id)
  end
  added = added + bytes
end
if unarchived then
  redis.call('ZADD', due, 'LT', args.nowMs, args.webhookId)
end
local total = redis.call('HINCRBY', sizes, 'total', added)

local count = redis.call('ZCARD', log)
local excess = math.max(count - args.maxRequests, redis.call('ZLEXCOUNT', log, '-', '(' .. args.oldestId))
local dropped = 0
-- Drops one at a time if only the bytes are exceeded.
while dropped < count - 1 and (dropped < excess or total > args.maxBytes) do
  local portion = dropped < excess and math.min(excess - dropped, DROPPED_AT_ONCE, count - 1 - dropped) or 1
  local oldest = redis.call('ZRANGE', log, 0, portion - 1)
  local freed, keys = 0, {}
  for i, bytes in ipairs(redis.call('HMGET', sizes, unpack(oldest))) do
    freed = freed + (bytes or 0)
    keys[i] = args.requestPrefix .. oldest[i]
  end
  redis.call('DEL', unpack(keys))
  redis.call('HDEL', sizes, unpack(oldest))
  redis.call('ZREMRANGEBYRANK', log, 0, portion - 1)
  for _, index in ipairs({ rejected, filtered, unverified }) do
    redis.call('ZREM', index, unpack(oldest))
  end
  if unarchived then
    redis.call('ZREM', unarchived, unpack(oldest))
    if is_before(redis.call('HGET', sizes, 'dropped') or '', oldest[#oldest]) then
      redis.call('HSET', sizes, 'dropped', oldest[#oldest])
    end
  end
  total = redis.call('HINCRBY', sizes, 'total', -freed)
  dropped = dropped + portion
end
for _, key in ipairs({ log, sizes, rejected, filtered, unverified, unarchived, due }) do
  redis.call('PEXPIRE', key, args.ttlMs)
end
return dropped
