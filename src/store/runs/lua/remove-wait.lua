-- Removes a wait.
-- KEYS[1] run (hash: run-fields.ts)
-- ARGV[1] the wait's key
-- Returns nothing.
remove_wait(KEYS[1] .. ':waits', ARGV[1])
