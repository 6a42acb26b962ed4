-- Lists all jobs that may hold an event that is accepted and not stored yet.
-- KEYS: of a queue of ingest jobs: active (list), wait (list), paused (list), delayed (zset), failed (zset), prioritized (zset)
-- ARGV: maximum number of jobs
-- Returns the IDs of the jobs; nil if there are more.
local count = 0
for i = 1, 3 do
  count = count + redis.call('LLEN', KEYS[i])
end
for i = 4, 6 do
  count = count + redis.call('ZCARD', KEYS[i])
end
if count > tonumber(ARGV[1]) then
  return false
end
local found = {}
for i = 1, 6 do
  for _, job in ipairs(redis.call(i <= 3 and 'LRANGE' or 'ZRANGE', KEYS[i], 0, -1)) do
    found[#found + 1] = job
  end
end
return found
