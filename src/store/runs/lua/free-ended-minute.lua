-- Removes a minute from the index of ended runs, unless a run has been added since its segments were read.
-- KEYS: minutes (zset), then the segments of the minute (lists), shortest first
-- ARGV: start of the minute (ms), then the number of entries that each segment had
-- Returns 1: removed; 0: a run was added.
local minute = ARGV[1]
for i = 2, #ARGV do
  if redis.call('LLEN', KEYS[i]) ~= tonumber(ARGV[i]) then
    return 0
  end
end
for i = 2, #ARGV do
  redis.call('DEL', KEYS[i])
end
redis.call('ZREM', KEYS[1], minute)
return 1
