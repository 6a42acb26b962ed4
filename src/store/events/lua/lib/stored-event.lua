-- Extends the retention of an event to at least `ttl` ms from now. The event moves out of its bucket only if the bucket expires sooner; its
-- field stays, empty, so that a repeat of the event is recognized.
-- Returns the event as text; false: it is not stored.
local function extend_retention(bucket, field, overflow, ttl)
  local text = redis.call('HGET', bucket, field)
  if text and text ~= '' then
    local left = redis.call('PTTL', bucket)
    -- A bucket without a TTL is just being created and gets one.
    if left == -1 or left >= tonumber(ttl) then
      return text
    end
    if redis.call('EXISTS', overflow) == 0 then
      redis.call('SET', overflow, text, 'PX', ttl)
      redis.call('HSET', bucket, field, '')
      return text
    end
  end
  redis.call('PEXPIRE', overflow, ttl, 'GT')
  return text ~= '' and text or redis.call('GET', overflow)
end
