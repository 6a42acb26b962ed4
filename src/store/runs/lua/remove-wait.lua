-- @include runs/lua/lib/remove-waits.lua
-- Removes a wait.
-- KEYS: run (hash)
-- ARGV: key of the wait
-- Returns nothing.
remove_wait(KEYS[1] .. SUFFIX_WAITS, ARGV[1])
