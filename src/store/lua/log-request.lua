-- Adds a request to a webhook's log and drops the oldest: beyond the count, older than kept, beyond the bytes.
-- KEYS: 1 log (zset of IDs, scores all 0), 2 sizes (hash: ID -> bytes, and "total"), 3 the request (hash),
--       4 those of the log that were rejected (zset of IDs, scores all 0)
-- ARGV: 1 ID, 2 bytes, 3 most requests, 4 most bytes, 5 first ID that is young enough, 6 milliseconds kept,
--       7 what the keys of requests begin with, 8 summary, 9 request, 10 body, 11 'rejected' or another outcome
-- Returns how many were dropped.
redis.call('HSET', KEYS[3], 'summary', ARGV[8], 'request', ARGV[9], 'body', ARGV[10])
redis.call('PEXPIRE', KEYS[3], ARGV[6])
redis.call('ZADD', KEYS[1], 0, ARGV[1])
if ARGV[11] == 'rejected' then
  redis.call('ZADD', KEYS[4], 0, ARGV[1])
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('HINCRBY', KEYS[2], 'total', ARGV[2])
local dropped = 0
while true do
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
  if not oldest or oldest == ARGV[1] then break end
  local tooMany = redis.call('ZCARD', KEYS[1]) > tonumber(ARGV[3])
  local tooMuch = tonumber(redis.call('HGET', KEYS[2], 'total')) > tonumber(ARGV[4])
  if not (tooMany or tooMuch or oldest < ARGV[5]) then break end
  redis.call('ZREM', KEYS[1], oldest)
  redis.call('ZREM', KEYS[4], oldest)
  redis.call('HINCRBY', KEYS[2], 'total', -tonumber(redis.call('HGET', KEYS[2], oldest) or '0'))
  redis.call('HDEL', KEYS[2], oldest)
  redis.call('DEL', ARGV[7] .. oldest)
  dropped = dropped + 1
end
redis.call('PEXPIRE', KEYS[1], ARGV[6])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
redis.call('PEXPIRE', KEYS[4], ARGV[6])
return dropped
