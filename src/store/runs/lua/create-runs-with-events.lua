-- @include events/lua/lib/store-events.lua
-- @include redis/lua/lib/add-jobs.lua
-- @include runs/lua/lib/create-runs.lua
-- Stores events and creates the runs that they trigger: what store-events.lua and create-runs.lua do, in one script for nearly every event
-- that triggers a function. It creates no runs if an event was stored before, or the functions have another version: the caller then
-- decides again which runs there are.
-- KEYS: version of the functions (string), bucket (hash), then those of lib/create-runs.lua
-- ARGV: version of the functions with which the events were matched, TTL of the bucket (ms), number of events, of each event its field
--       and its text, then those of lib/create-runs.lua. Positional.
-- Returns what create_runs returns; nil: it has created none.
local FIRST_EVENT = 4
local last = FIRST_EVENT - 1 + 2 * ARGV[3]
local before = store_events(KEYS[2], ARGV[2], { unpack(ARGV, FIRST_EVENT, last) })
if #before > 0 or redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return nil
end
return create_runs({ unpack(KEYS, 3) }, { unpack(ARGV, last + 1) })
