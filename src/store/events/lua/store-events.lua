-- @include events/lua/lib/store-events.lua
-- KEYS: bucket (hash)
-- ARGV: as lib/store-events.lua has them. Positional: this runs for every event.
-- Returns what it returns.
return store_events(KEYS[1], ARGV[1], { unpack(ARGV, 2) })
