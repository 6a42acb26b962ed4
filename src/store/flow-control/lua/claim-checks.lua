-- Takes admissions whose check is due; another worker gets them again if this one dies.
-- KEYS: admissions (hash), their checks (zset)
-- ARGV: now (ms), until when others leave them alone (ms), how many
-- Returns for each what is checked, and its admission or ''.
local admissions, checks = unpack(KEYS)
local now, until_time, count = unpack(ARGV)

local claimed = {}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', checks, '-inf', now, 'LIMIT', 0, count)) do
  redis.call('ZADD', checks, until_time, member)
  claimed[#claimed + 1] = member
  claimed[#claimed + 1] = redis.call('HGET', admissions, member) or ''
end
return claimed
