-- Lets events of one name and one minute enter the index of their name; those that were not there yet are counted, once.
-- KEYS[1] index of the name (zset)  KEYS[2] slot of the minute (hash)  KEYS[3] minutes (zset)  KEYS[4] names (zset)
-- ARGV[1] name  ARGV[2] start of the minute (ms)  ARGV[3] end of the slot (ms)  ARGV[4] time (ms)  ARGV[5] retention (ms)
-- ARGV[6] when the last of the events was received (ms)  ARGV[7…] time of receipt (ms) and ID of each
local MINUTE_MS = 60000
local oldest = ARGV[4] - ARGV[5]
local function renew(key, upTo)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', upTo)
  redis.call('PEXPIRE', key, ARGV[5])
end
local added = redis.call('ZADD', KEYS[1], 'NX', unpack(ARGV, 7))
if added > 0 then
  redis.call('HINCRBY', KEYS[2], ARGV[1], added)
  redis.call('HINCRBY', KEYS[2], '', added)
  redis.call('PEXPIREAT', KEYS[2], ARGV[3])
  redis.call('ZADD', KEYS[3], ARGV[2], ARGV[2])
  renew(KEYS[3], oldest - MINUTE_MS)
end
redis.call('ZADD', KEYS[4], 'GT', ARGV[6], ARGV[1])
renew(KEYS[4], oldest)
renew(KEYS[1], oldest)
