-- Adds requests of an hour to the traffic of a webhook. Each hour has one field: its counts, and the longest gap between requests that
-- ended in it.
-- KEYS: traffic (hash)
-- ARGV: hour (since 1970), counts (JSON list), first and last receipt (ms), longest time without a request in between (ms), hours to
-- keep, TTL (ms)
-- Returns 1.
local traffic = KEYS[1]
local hour, counts, first, last, gap, kept, ttl = unpack(ARGV)
counts, first, last, gap = cjson.decode(counts), tonumber(first), tonumber(last), tonumber(gap)

local known, lastKnown = unpack(redis.call('HMGET', traffic, hour, 'last'))
if lastKnown then
  gap = math.max(gap, first - lastKnown)
end
local sums = known and cjson.decode(known) or {}
for i, count in ipairs(counts) do
  sums[i] = (sums[i] or 0) + count
end
local at = #counts + 1
sums[at] = math.max(sums[at] or 0, gap)
redis.call('HSET', traffic, hour, cjson.encode(sums), 'last', string.format('%.0f', math.max(last, tonumber(lastKnown or 0))))
if not known then
  for _, field in ipairs(redis.call('HKEYS', traffic)) do
    if tonumber(field) and tonumber(field) <= hour - kept then
      redis.call('HDEL', traffic, field)
    end
  end
end
redis.call('PEXPIRE', traffic, ttl)
return 1
