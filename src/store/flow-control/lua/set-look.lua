-- @include flow-control/lua/lib/look.lua
-- Records that a look is enqueued, unless another look has run since the script that requested it.
-- KEYS: look (string)
-- ARGV: number of looks then, time of the look (ms)
-- Returns nothing.
local number, time = read_look(KEYS[1])
local given = tonumber(ARGV[2])
if number == ARGV[1] and (not time or given < time or time < given - LOST_MS) then
  write_look(KEYS[1], tonumber(number), given)
end
