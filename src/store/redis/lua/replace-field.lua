-- Replaces the value of a field, if it is still the expected one.
-- KEYS: hash
-- ARGV: field, expected value, new value
-- Returns 1: replaced; 0: the value has changed.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
