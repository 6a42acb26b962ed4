-- @include flow-control/lua/lib/now.lua
-- @include flow-control/lua/lib/timer-check.lua
-- @include flow-control/lua/lib/event-group.lua
-- @include flow-control/lua/lib/batch.lua
-- @include flow-control/lua/lib/debounce.lua
-- Adds events to the open batches or debounces of a function.
-- KEYS: as of lib/event-group.lua
-- ARGV: as of lib/event-group.lua; when the ingest job began (ms); then of each event: value of the key, ID, time (ms; batch: earliest
--       start of its run; debounce: ts), size of its payload, 1 if an earlier try stored it
-- Returns the timer check to schedule, and for each event what `add` of its kind returns.
local LENGTH = 5
-- An event added this long after its ingest job began may have been added already, by another try.
local DOUBT_AFTER_MS = 500

local is_late = now - ARGV[FIRST_ARG] > DOUBT_AFTER_MS
local events = {}
for at = FIRST_ARG + 1, #ARGV, LENGTH do
  local key, id, time, bytes, is_stored = unpack(ARGV, at, at + LENGTH - 1)
  local is_in_doubt = is_late or is_stored == '1'
  events[#events + 1] = { key = key, id = id, at = tonumber(time), bytes = tonumber(bytes), is_in_doubt = is_in_doubt }
end
local results = KINDS[kind_name].add(events)
return { next_look(), results }
