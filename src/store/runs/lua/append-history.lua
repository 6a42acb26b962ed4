-- @include runs/lua/lib/append-history.lua
-- Appends to a run's history.
-- KEYS: run (hash)
-- ARGV: entries (JSON)
-- Returns nothing.
append_history(KEYS[1], 1)
