-- Adds requests to a webhook's log and drops the oldest: beyond the count, older than kept, beyond the bytes. The newest stays in any case.
-- KEYS: 1 log (zset of IDs, scores all 0), 2 sizes (hash: ID -> bytes, and "total"), 3 those of the log that were rejected (zset of IDs, scores all 0)
-- ARGV: 1 most requests, 2 most bytes, 3 first ID that is young enough, 4 milliseconds kept, 5 what the keys of requests (hashes) begin with,
--       6… of each request: ID, bytes, 'rejected' or another outcome, summary, request, body
-- Returns how many were dropped.
local prefix, fields = ARGV[5], 6
local total = 0
for i = 6, #ARGV, fields do
  local id, bytes = ARGV[i], ARGV[i + 1]
  redis.call('HSET', prefix .. id, 'summary', ARGV[i + 3], 'request', ARGV[i + 4], 'body', ARGV[i + 5])
  redis.call('PEXPIRE', prefix .. id, ARGV[4])
  redis.call('ZADD', KEYS[1], 0, id)
  redis.call('HSET', KEYS[2], id, bytes)
  if ARGV[i + 2] == 'rejected' then
    redis.call('ZADD', KEYS[3], 0, id)
  end
  total = total + bytes
end
total = redis.call('HINCRBY', KEYS[2], 'total', total)

local count = redis.call('ZCARD', KEYS[1])
local drop = math.max(count - tonumber(ARGV[1]), redis.call('ZLEXCOUNT', KEYS[1], '-', '(' .. ARGV[3]))
local dropped = 0
-- One after the other only where the bytes are too many: those go in small portions until they are not.
while dropped < count - 1 and (dropped < drop or total > tonumber(ARGV[2])) do
  local portion = dropped < drop and math.min(drop - dropped, 500, count - 1 - dropped) or 1
  local oldest = redis.call('ZRANGE', KEYS[1], 0, portion - 1)
  local freed, keys = 0, {}
  for i, bytes in ipairs(redis.call('HMGET', KEYS[2], unpack(oldest))) do
    freed = freed + (bytes or 0)
    keys[i] = prefix .. oldest[i]
  end
  redis.call('DEL', unpack(keys))
  redis.call('HDEL', KEYS[2], unpack(oldest))
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, portion - 1)
  redis.call('ZREM', KEYS[3], unpack(oldest))
  total = redis.call('HINCRBY', KEYS[2], 'total', -freed)
  dropped = dropped + portion
end
for i = 1, 3 do
  redis.call('PEXPIRE', KEYS[i], ARGV[4])
end
return dropped
