-- Makes the state of a webhook's reconciliation that of a list. What is stored of another list is deleted. A state without a list is kept: an
-- earlier version wrote it, or somebody asked for the first comparison.
-- KEYS: state (hash); the other keys of the reconciliation
-- ARGV: the list, TTL (ms)
local state = KEYS[1]
local list, ttl = unpack(ARGV)

local before = redis.call('HGET', state, 'since')
if before and before ~= list then
  redis.call('DEL', unpack(KEYS))
end
redis.call('HSET', state, 'since', list)
redis.call('PEXPIRE', state, ttl)
