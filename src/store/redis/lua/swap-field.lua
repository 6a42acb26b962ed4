-- Replaces a field's value, if it is still the expected one.
-- KEYS[1] hash
-- ARGV[1] field  ARGV[2] expected value  ARGV[3] new value
-- Returns 1 replaced, 0 it is another by now.
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
