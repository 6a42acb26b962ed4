-- Event groups: a batch, a debounce or a lane is the events of a function with the same key value. A group is open until it is due; what it
-- closes stays until its run is created. What the kinds do differently is in KINDS.
-- KEYS: open groups (hash), times since which the period counts (zset), times of their first events (zset), closed groups (hash), times to
--       take them (zset), their events (hash), timer check (string)
-- ARGV: kind, period (ms), timeout (ms) or ''; batch: maximum number of events, maximum bytes; debounce: function ID, what precedes the
--       digest in the key of the last debounce; lane: as of lib/lane.lua; then those of the script from FIRST_ARG
--       on. Positional: this runs for every event.
local open, times, starts, closed, closed_times, closed_events, timer_check = unpack(KEYS, 1, 7)
local kind_name, period, timeout = unpack(ARGV, 1, 3)
local FIRST_ARG = 6
local KINDS = {}
local now = time_now()

local function remove_open(key)
  redis.call('HDEL', open, key)
  redis.call('ZREM', times, key)
  redis.call('ZREM', starts, key)
end

local function add_closed(id, text)
  redis.call('HSET', closed, id, text)
  redis.call('ZADD', closed_times, now, id)
end

local function remove_closed(id)
  redis.call('HDEL', closed, id)
  redis.call('ZREM', closed_times, id)
end

-- The timer check to schedule: when a group is due or a closed one may be taken. A kind whose entries in `starts` can wait sets the
-- interval at which they are checked (`check_interval_ms`).
local function next_look()
  local due = earliest(first_after(times, period), first_after(closed_times, 0))
  local later = timeout ~= '' and first_after(starts, timeout) or nil
  local between = KINDS[kind_name].check_interval_ms
  if later and between then
    later = math.max(later, now + between)
  end
  return timer_check_to_schedule(timer_check, now, earliest(due, later))
end
