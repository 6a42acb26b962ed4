-- @include flow-control/lua/lib/now.lua
-- @include flow-control/lua/lib/look.lua
-- @include flow-control/lua/lib/debounce.lua
-- Fires due debounces of a function, and leases fired ones, so that no other worker takes them for a while.
-- KEYS: as of add-to-debounces.lua
-- ARGV: function ID, what precedes the digest in the key of the last debounce, period (ms), timeout (ms) or '', most debounces to take,
-- length of the lease (ms), how long the last debounce of each value is remembered (ms)
-- Returns the look to schedule, then the text of each debounce.
local open, times, starts, fired, fired_times, look = unpack(KEYS, 1, 6)
local function_id, last_prefix, period, timeout, limit, lease, remembered = unpack(ARGV)

local now = time_now()
local number, time = read_look(look)
write_look(look, tonumber(number) + 1, time and time > now and time or nil)

local function fire(keys)
  for _, key in ipairs(keys) do
    local text = redis.call('HGET', open, key)
    if text then
      local debounce = read_debounce(text)
      redis.call('HSET', fired, debounce.id, text)
      redis.call('ZADD', fired_times, now, debounce.id)
      debounce.replaced = ''
      local last = last_key(last_prefix, function_id, key)
      local former = redis.call('GET', last)
      if not former or is_later(debounce.ts, debounce.id, read_debounce(former)) then
        former = write_debounce(debounce)
      end
      redis.call('SET', last, former, 'PX', remembered)
    end
    redis.call('HDEL', open, key)
    redis.call('ZREM', times, key)
    redis.call('ZREM', starts, key)
  end
end

fire(redis.call('ZRANGEBYSCORE', times, '-inf', now - period, 'LIMIT', 0, limit))
if timeout ~= '' then
  fire(redis.call('ZRANGEBYSCORE', starts, '-inf', now - timeout, 'LIMIT', 0, limit))
end
local reply = { {} }
for _, id in ipairs(redis.call('ZRANGEBYSCORE', fired_times, '-inf', now, 'LIMIT', 0, limit)) do
  local text = redis.call('HGET', fired, id)
  if text then
    redis.call('ZADD', fired_times, now + lease, id)
    reply[#reply + 1] = text
  else
    redis.call('ZREM', fired_times, id)
  end
end
reply[1] = look_to_set(look, now, next_debounce(times, starts, fired_times, period, timeout))
return reply
