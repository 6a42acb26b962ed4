-- @include flow-control/lua/lib/timer-check.lua
-- Records that a timer check is enqueued, unless another timer check has run since the script that requested it.
-- KEYS: timer check (string)
-- ARGV: number of timer checks then, time of the timer check (ms)
-- Returns nothing.
local number, time = read_timer_check(KEYS[1])
local given = tonumber(ARGV[2])
if number == ARGV[1] and (not time or given < time or time < given - LOST_MS) then
  write_timer_check(KEYS[1], tonumber(number), given)
end
