-- @include flow-control/lua/lib/now.lua
-- @include flow-control/lua/lib/look.lua
-- @include flow-control/lua/lib/debounce.lua
-- Removes fired debounces whose runs are created.
-- KEYS: as of add-to-debounces.lua
-- ARGV: period (ms), timeout (ms) or '', then the IDs of their events
-- Returns the look to schedule.
local _, times, starts, fired, fired_times, look = unpack(KEYS, 1, 6)
local period, timeout = unpack(ARGV, 1, 2)

for i = 3, #ARGV do
  redis.call('HDEL', fired, ARGV[i])
  redis.call('ZREM', fired_times, ARGV[i])
end
return look_to_set(look, time_now(), next_debounce(times, starts, fired_times, period, timeout))
