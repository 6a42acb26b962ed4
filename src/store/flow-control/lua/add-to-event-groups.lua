-- @include redis/lua/lib/is-before.lua
-- @include redis/lua/lib/now.lua
-- @include flow-control/lua/lib/timer-check.lua
-- @include flow-control/lua/lib/event-group.lua
-- @include flow-control/lua/lib/batch.lua
-- @include flow-control/lua/lib/debounce.lua
-- @include flow-control/lua/lib/lane.lua
-- Adds events to the open groups of a function.
-- KEYS: those of lib/event-group.lua
-- ARGV: those of lib/event-group.lua; when the ingest job began (ms); then of each event: value of the key (lane: its
--       digest), ID, two values of the kind, 1 if an earlier try stored it
-- Returns the timer check to schedule, and for each event what `add` of its kind returns.
local LENGTH = 5
-- An event added this long after its ingest job began may have been added already, by another try.
local DOUBT_AFTER_MS = 500

local is_late = now - ARGV[FIRST_ARG] > DOUBT_AFTER_MS
local events = {}
for at = FIRST_ARG + 1, #ARGV, LENGTH do
  local key, id, first, second, is_stored = unpack(ARGV, at, at + LENGTH - 1)
  local is_in_doubt = is_late or is_stored == '1'
  events[#events + 1] = { key = key, id = id, first = first, second = second, is_in_doubt = is_in_doubt }
end
local results = KINDS[kind_name].add(events)
return { next_look(), results }
