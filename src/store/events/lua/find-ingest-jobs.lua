-- Finds the jobs that may hold an event that is accepted and not stored yet.
-- KEYS: of a queue of ingest jobs: active (list), wait (list, the newest first), delayed (zset), failed (zset)
-- ARGV: what precedes the ID in the key of a job, the earliest time at which the job was added (ms), the latest, maximum of each kind
-- Returns the IDs of the jobs added within that time: active, waiting, delayed, then failed ones.
local active, wait, delayed, failed = unpack(KEYS)
local prefix, earliest, latest, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local function added_at(job)
  return tonumber(redis.call('HGET', prefix .. job, JOB_ADDED_AT) or 0)
end

local found = {}
local function keep_those_of_the_time(jobs)
  for _, job in ipairs(jobs) do
    local at = added_at(job)
    if at >= earliest and at <= latest then
      found[#found + 1] = job
    end
  end
end

keep_those_of_the_time(redis.call('LRANGE', active, 0, most - 1))
-- Binary search for the number of waiting jobs added since the earliest time.
local low, high = 0, redis.call('LLEN', wait)
while low < high do
  local middle = math.floor((low + high) / 2)
  if added_at(redis.call('LINDEX', wait, middle)) >= earliest then
    low = middle + 1
  else
    high = middle
  end
end
local since = low > 0 and redis.call('LRANGE', wait, math.max(0, low - most), low - 1) or {}
for i = #since, 1, -1 do
  if added_at(since[i]) > latest then
    break
  end
  found[#found + 1] = since[i]
end
keep_those_of_the_time(redis.call('ZRANGE', delayed, 0, most - 1))
keep_those_of_the_time(redis.call('ZRANGE', failed, 0, most - 1))
return found
