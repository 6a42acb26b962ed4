-- Stores a wait for a signal, which has at most one wait.
-- KEYS: signal (hash)
-- ARGV: key of the wait, TTL (ms), key of the wait that it replaces or ''
-- Returns the key of another wait that holds the signal; false: stored, now or before.
local signal = KEYS[1]
local wait_key, ttl, replaced = unpack(ARGV)
local holder = redis.call('HKEYS', signal)[1]
if holder and holder ~= wait_key then
  if holder ~= replaced then
    return holder
  end
  redis.call('HDEL', signal, holder)
end
redis.call('HSET', signal, wait_key, 1)
redis.call('PEXPIRE', signal, ttl)
return false
