-- @include events/lua/lib/stored-event.lua
-- Extends the retention of an event to at least a TTL from now.
-- KEYS: bucket of the event (hash), its overflow key (string)
-- ARGV: field of the event in the bucket, TTL (ms)
-- Returns nothing.
extend_retention(KEYS[1], ARGV[1], KEYS[2], ARGV[2])
