-- Forgets requests that are too old, or too many.
-- KEYS: came, sent, recovered, missing (zsets: provider's ID by time), details of missing requests (hash)
-- ARGV: time before which requests are forgotten (ms), maximum number of sent requests
-- Returns the time (ms) since which no request was forgotten.
local came, sent, recovered, missing, details = unpack(KEYS)
local since, max = tonumber(ARGV[1]), tonumber(ARGV[2])
local AT_ONCE = 1000

for _, key in ipairs({ came, sent }) do
  local excess = redis.call('ZCARD', key) - max
  if excess > 0 then
    local oldest = redis.call('ZRANGE', key, excess, excess, 'WITHSCORES')
    since = math.max(since, tonumber(oldest[2]))
  end
end
local before = string.format('(%.0f', since)
while true do
  local old = redis.call('ZRANGEBYSCORE', missing, '-inf', before, 'LIMIT', 0, AT_ONCE)
  if #old == 0 then
    break
  end
  redis.call('ZREM', missing, unpack(old))
  redis.call('HDEL', details, unpack(old))
end
for _, key in ipairs({ came, sent, recovered }) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', before)
end
return string.format('%.0f', since)
