-- @include redis/lua/lib/is-before.lua
-- @include redis/lua/lib/now.lua
-- @include flow-control/lua/lib/timer-check.lua
-- @include flow-control/lua/lib/event-group.lua
-- @include flow-control/lua/lib/batch.lua
-- @include flow-control/lua/lib/debounce.lua
-- @include flow-control/lua/lib/lane.lua
-- Records that the runs of closed groups are created.
-- KEYS: those of lib/event-group.lua
-- ARGV: those of lib/event-group.lua; then their IDs
-- Returns the timer check to schedule.
for i = FIRST_ARG, #ARGV do
  KINDS[kind_name].complete(ARGV[i])
end
return next_look()
