-- Admits runs under a rate limit: at most `limit` in any window of the period, by Redis's clock. A run in the log is admitted again.
-- KEYS: log (zset: run ID by the time that it was admitted, in microseconds)
-- ARGV: limit, period (ms), how long an entry is kept (ms, no less than the period), then run IDs. Positional: this runs for every
--       event of a function with a limit.
-- Returns for each run 0: admitted; otherwise the time (ms) from which the next run may be admitted.
local log = KEYS[1]
local limit, period, kept = tonumber(ARGV[1]), tonumber(ARGV[2]) * 1000, tonumber(ARGV[3])
local FIRST_RUN = 4

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
redis.call('ZREMRANGEBYSCORE', log, '-inf', now - kept * 1000)
-- An entry leaves the window when the period is over, not a microsecond earlier.
local since = string.format('(%.0f', now - period)
local count = redis.call('ZCOUNT', log, since, '+inf')

local added = false
local until_ms
local results = {}
for i = FIRST_RUN, #ARGV do
  local result = 0
  if not redis.call('ZSCORE', log, ARGV[i]) then
    if count < limit then
      redis.call('ZADD', log, now, ARGV[i])
      count = count + 1
      added = true
    else
      if not until_ms then
        local leaves = redis.call('ZRANGEBYSCORE', log, since, '+inf', 'WITHSCORES', 'LIMIT', count - limit, 1)
        until_ms = math.ceil((tonumber(leaves[2]) + period) / 1000)
      end
      result = until_ms
    end
  end
  results[#results + 1] = result
end
if added then
  redis.call('PEXPIRE', log, kept)
end
return results
