-- @include redis/lua/lib/is-before.lua
-- @include redis/lua/lib/now.lua
-- @include flow-control/lua/lib/timer-check.lua
-- @include flow-control/lua/lib/event-group.lua
-- @include flow-control/lua/lib/batch.lua
-- @include flow-control/lua/lib/debounce.lua
-- @include flow-control/lua/lib/lane.lua
-- Closes due groups of a function, and leases closed ones, so that no other worker takes them for a while.
-- KEYS: those of lib/event-group.lua
-- ARGV: those of lib/event-group.lua; maximum number of groups to take, length of the lease (ms), time of this timer check (ms) or ''
-- Returns the timer check to schedule, then ID and text of each group.
local limit, lease, own_time = unpack(ARGV, FIRST_ARG)
local kind = KINDS[kind_name]

local number, time = read_timer_check(timer_check)
-- A worker whose clock is ahead runs a timer check early. The check is over then, and must not count as still scheduled.
local is_to_come = time and time > now and time ~= tonumber(own_time)
write_timer_check(timer_check, tonumber(number) + 1, is_to_come and time or nil)

-- Whether all groups are due, whatever their times.
local is_over = kind.is_dissolved and kind.is_dissolved()

local function close(zset, after)
  local bound = is_over and '+inf' or now - after
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', zset, '-inf', bound, 'LIMIT', 0, limit)) do
    local text = redis.call('HGET', open, key)
    if text then
      kind.close(key, text)
    else
      remove_open(key)
    end
  end
end

close(times, period)
if timeout ~= '' then
  close(starts, timeout)
end
if is_over then
  for zset, after in pairs({ [times] = period, [starts] = timeout }) do
    for _, key in ipairs(redis.call('ZRANGE', zset, 0, 0)) do
      redis.call('ZADD', zset, now - after, key)
    end
  end
end
local reply = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', closed_times, '-inf', now, 'LIMIT', 0, limit)) do
  local text = redis.call('HGET', closed, id)
  if not text or kind.is_over(text) then
    remove_closed(id)
  else
    redis.call('ZADD', closed_times, now + lease, id)
    reply[#reply + 1] = id
    reply[#reply + 1] = text
  end
end
return { next_look(), unpack(reply) }
