-- Removes a wait.
-- KEYS[1] run (hash: run-fields.ts)  KEYS[2] waits of its name (hash), where one of an earlier version is
-- ARGV[1] the wait's key
-- Returns nothing.
if not remove_wait(KEYS[1] .. ':waits', ARGV[1]) then
  redis.call('HDEL', KEYS[2], ARGV[1])
end
