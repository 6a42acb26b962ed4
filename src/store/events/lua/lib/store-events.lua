-- Stores events in their bucket, each unless it is stored already, and renews the bucket. `ttl`: of the bucket (ms); `args`: for each event
-- its field and its text, a list that HSET takes as it is.
-- Returns the positions (from 0) of the events that were stored before.
local function store_events(bucket, ttl, args)
  -- The usual case: all events of a batch are new.
  local function all_new()
    local fields, seen = {}, {}
    for i = 1, #args, 2 do
      local field = args[i]
      if seen[field] then
        return false
      end
      seen[field] = true
      fields[#fields + 1] = field
    end
    for _, text in ipairs(redis.call('HMGET', bucket, unpack(fields))) do
      if text then
        return false
      end
    end
    return true
  end

  local before = {}
  if all_new() then
    redis.call('HSET', bucket, unpack(args))
  else
    for i = 1, #args, 2 do
      if redis.call('HSETNX', bucket, args[i], args[i + 1]) == 0 then
        before[#before + 1] = (i - 1) / 2
      end
    end
  end
  -- GT by itself sets no TTL on a key without one.
  redis.call('PEXPIRE', bucket, ttl, 'NX')
  redis.call('PEXPIRE', bucket, ttl, 'GT')
  return before
end
