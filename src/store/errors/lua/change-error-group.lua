-- Resolves an error group, or reopens it.
-- KEYS: group (hash), groups of the new state, groups of the other state (zsets: fingerprint by its last failure)
-- ARGV: fingerprint, new state, who changes it (JSON text), now (ms), TTL of the groups (ms), how often a failure has reopened the group in all
--       partitions
-- Returns 1: changed; 0: it has this state; -1: there is no such group.
local group, to, from = unpack(KEYS)
local fingerprint, state, by, now, ttl, reopened = unpack(ARGV)

local former, last_seen = unpack(redis.call('HMGET', group, 'state', 'lastSeen'))
if not former then
  return -1
end
-- The next failure may be in any partition.
redis.call('HSET', group, 'reopened', math.max(reopened, redis.call('HGET', group, 'reopened') or 0))
if former == state then
  return 0
end
redis.call('HSET', group, 'state', state, 'stateChangedAt', now, 'stateChangedBy', by)
redis.call('ZREM', from, fingerprint)
redis.call('ZADD', to, last_seen, fingerprint)
redis.call('PEXPIRE', to, ttl)
return 1
