-- Removes a finished check, unless it was requested again in the meantime.
-- KEYS: checks of admissions (zset)
-- ARGV: what is checked, time until which it was claimed (ms)
if redis.call('ZSCORE', KEYS[1], ARGV[1]) == ARGV[2] then
  redis.call('ZREM', KEYS[1], ARGV[1])
end
