-- Changes functions of an environment, if they are still at the version at which they were read.
-- KEYS: functions, paused functions, settings, trigger history (hashes by function ID), version
-- ARGV: the version that was read (empty: none), first version, TTL of the history (ms), number of IDs to remove, number of
--   functions, these IDs, IDs and functions (JSON), IDs and histories (JSON)
-- Returns 1: changed; 0: the version is another.
if (redis.call('GET', KEYS[5]) or '') ~= ARGV[1] then
  return 0
end
local removed = 5 + tonumber(ARGV[4])
local given = removed + 2 * tonumber(ARGV[5])
for i = 6, removed do
  for key = 1, 4 do
    redis.call('HDEL', KEYS[key], ARGV[i])
  end
end
for i = removed + 1, given, 2 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
end
for i = given + 1, #ARGV, 2 do
  redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1])
  redis.call('PEXPIRE', KEYS[4], ARGV[3])
end
redis.call('SET', KEYS[5], ARGV[2], 'NX')
redis.call('INCR', KEYS[5])
return 1
