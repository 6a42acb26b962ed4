-- Extends the TTL of a key, so that it lives as long as its longest-lived member.
local function extend(key, ttl)
  if redis.call('PTTL', key) < tonumber(ttl) then
    redis.call('PEXPIRE', key, ttl)
  end
end
