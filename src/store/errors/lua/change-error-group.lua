-- Resolves, ignores or reopens an error group.
-- KEYS: group (hash), open groups, resolved groups, ignored groups (zsets: fingerprint by its last failure)
-- ARGV: fingerprint, new state, who changes it (JSON text), now (ms), TTL of the groups (ms), how often a failure has reopened
--       the group in all partitions
-- Returns 1: changed; 0: it has this state; -1: there is no such group.
local group, open, resolved, ignored = unpack(KEYS)
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
for name, index in pairs({ open = open, resolved = resolved, ignored = ignored }) do
  if name == state then
    redis.call('ZADD', index, last_seen, fingerprint)
    redis.call('PEXPIRE', index, ttl)
  else
    redis.call('ZREM', index, fingerprint)
  end
end
return 1
