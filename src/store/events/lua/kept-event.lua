-- How a stored event is read, and kept: in the bucket, or as a copy of its own, to which an empty field of the bucket points.
local function read_event(bucket, field, copy)
  local text = redis.call('HGET', bucket, field)
  if text and text ~= '' then
    return text
  end
  return redis.call('GET', copy)
end

-- The event stays for at least so many milliseconds. It moves out of its bucket only if that ends sooner; the empty field that remains tells
-- the same event when it is sent again.
local function keep_event(bucket, field, copy, ms)
  if redis.call('HSTRLEN', bucket, field) > 0 then
    local left = redis.call('PTTL', bucket)
    -- A bucket without an end is about to be given one.
    if left == -1 or left >= tonumber(ms) then
      return
    end
    if redis.call('EXISTS', copy) == 0 then
      redis.call('SET', copy, redis.call('HGET', bucket, field), 'PX', ms)
      redis.call('HSET', bucket, field, '')
      return
    end
  end
  redis.call('PEXPIRE', copy, ms, 'GT')
end

