-- @include redis/lua/lib/is-before.lua
-- @include redis/lua/lib/now.lua
-- @include flow-control/lua/lib/timer-check.lua
-- @include flow-control/lua/lib/event-group.lua
-- @include flow-control/lua/lib/lane.lua
-- Changes a lane at the end of a run, or because a person decided.
-- KEYS: those of lib/event-group.lua
-- ARGV: those of lib/event-group.lua; then lane, action, event, function and number of the run, as of lib/lane.lua
-- Returns whether the lane has changed (1 or 0), and the timer check to schedule.
local has_changed = lane.change(unpack(ARGV, FIRST_ARG, FIRST_ARG + 4))
return { has_changed and 1 or 0, next_look() }
