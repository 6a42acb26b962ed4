-- @include flow-control/lua/lib/now.lua
-- @include flow-control/lua/lib/look.lua
-- @include flow-control/lua/lib/batch.lua
-- Closes due batches of a function, and leases closed ones, so that no other worker takes them for a while.
-- KEYS: as of add-to-batches.lua
-- ARGV: most events of a batch, timeout (ms), most batches to take, length of the lease (ms)
-- Returns the look to schedule, then ID and text of each batch.
local open, times, closed, closed_times, closed_events, look = unpack(KEYS, 1, 6)
local max_events, timeout, limit, lease = unpack(ARGV)

local now = time_now()
local number, time = read_look(look)
write_look(look, tonumber(number) + 1, time and time > now and time or nil)
for _, key in ipairs(redis.call('ZRANGEBYSCORE', times, '-inf', now - timeout, 'LIMIT', 0, limit)) do
  local text = redis.call('HGET', open, key)
  if text then
    close_batch(closed, closed_times, closed_events, read_batch(text), tonumber(max_events), now)
  end
  redis.call('HDEL', open, key)
  redis.call('ZREM', times, key)
end
local reply = { {} }
for _, id in ipairs(redis.call('ZRANGEBYSCORE', closed_times, '-inf', now, 'LIMIT', 0, limit)) do
  local text = redis.call('HGET', closed, id)
  if not text then
    redis.call('ZREM', closed_times, id)
  elseif string.sub(text, 1, 1) == 'd' then
    forget_batch(closed, closed_times, closed_events, id, text)
  else
    redis.call('ZADD', closed_times, now + lease, id)
    reply[#reply + 1] = id
    reply[#reply + 1] = text
  end
end
reply[1] = look_to_set(look, now, earliest(first_after(times, timeout), first_after(closed_times, 0)))
return reply
