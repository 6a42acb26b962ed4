-- @include redis/lua/lib/now.lua
-- Claims admissions whose check is due; if this worker dies, another worker gets them. By Redis's clock, as the times of checks are: a worker
-- whose clock is ahead would otherwise check an admission whose job is about to be added, and give its permits away.
-- KEYS: admissions (hash), their checks (zset)
-- ARGV: length of the claim (ms), maximum number
-- Returns the end of the claim (ms, with half a millisecond by which it is recognized), then for each claim the object to check, and its
-- admission or ''.
local admissions, checks = unpack(KEYS)
local claim_ms, count = tonumber(ARGV[1]), ARGV[2]

local now = time_now()
local until_time = string.format('%.1f', now + claim_ms + 0.5)
local claimed = { until_time }
for _, member in ipairs(redis.call('ZRANGEBYSCORE', checks, '-inf', now, 'LIMIT', 0, count)) do
  redis.call('ZADD', checks, until_time, member)
  claimed[#claimed + 1] = member
  claimed[#claimed + 1] = redis.call('HGET', admissions, member) or ''
end
return claimed
