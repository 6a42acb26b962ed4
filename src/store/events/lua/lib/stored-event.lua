-- Reads a stored event from its bucket, or from its overflow key where the field of the bucket is empty or missing.
local function read_event(bucket, field, overflow)
  local text = redis.call('HGET', bucket, field)
  if text and text ~= '' then
    return text
  end
  return redis.call('GET', overflow)
end

-- Extends the retention of an event to at least `ttl` ms from now. The event moves out of its bucket only if the bucket expires sooner; its
-- field stays, empty, so that a repeat of the event is recognized.
local function extend_retention(bucket, field, overflow, ttl)
  if redis.call('HSTRLEN', bucket, field) > 0 then
    local left = redis.call('PTTL', bucket)
    -- A bucket without a TTL is just being created and gets one.
    if left == -1 or left >= tonumber(ttl) then
      return
    end
    if redis.call('EXISTS', overflow) == 0 then
      redis.call('SET', overflow, redis.call('HGET', bucket, field), 'PX', ttl)
      redis.call('HSET', bucket, field, '')
      return
    end
  end
  redis.call('PEXPIRE', overflow, ttl, 'GT')
end
