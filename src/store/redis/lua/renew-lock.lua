-- Renews or releases a lock, if the caller still holds it.
-- KEYS: lock (string)
-- ARGV: token of the holder, TTL (ms; 0 releases)
-- Returns 1: done; 0: another process holds the lock.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
