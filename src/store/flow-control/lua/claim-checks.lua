-- Claims admissions whose check is due; if this worker dies, another worker gets them.
-- KEYS: admissions (hash), their checks (zset)
-- ARGV: now (ms), end of the claim (ms), maximum number
-- Returns for each claim the object to check, and its admission or ''.
local admissions, checks = unpack(KEYS)
local now, until_time, count = unpack(ARGV)

local claimed = {}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', checks, '-inf', now, 'LIMIT', 0, count)) do
  redis.call('ZADD', checks, until_time, member)
  claimed[#claimed + 1] = member
  claimed[#claimed + 1] = redis.call('HGET', admissions, member) or ''
end
return claimed
