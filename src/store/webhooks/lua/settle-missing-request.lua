-- Records that a missing request has come, or was recovered. Repeating this changes nothing.
-- KEYS: sent, recovered, missing (zsets: provider's ID by its time), details of missing requests (hash)
-- ARGV: ID, 1 if it was recovered, TTL (ms)
-- Returns 1; 0: it was not missing.
local sent, recovered, missing, details = unpack(KEYS)
local id, was_recovered, ttl = unpack(ARGV)

local at = redis.call('ZSCORE', missing, id)
if not at then
  return 0
end
redis.call('ZREM', missing, id)
redis.call('HDEL', details, id)
redis.call('ZADD', sent, at, id)
if was_recovered == '1' then
  redis.call('ZADD', recovered, at, id)
end
redis.call('PEXPIRE', sent, ttl)
redis.call('PEXPIRE', recovered, ttl)
return 1
