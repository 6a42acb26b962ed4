-- Replaces the value of a field, if it is still the expected one.
-- KEYS: hash
-- ARGV: field, expected value (empty: none), new value (empty: removes the field), maximum number of fields (absent: no maximum)
-- Returns 1: replaced; 0: the value has changed; -1: the field is new and the hash is full.
local present = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if present ~= ARGV[2] then
  return 0
end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return 1
end
if present == '' and ARGV[4] and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then
  return -1
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
