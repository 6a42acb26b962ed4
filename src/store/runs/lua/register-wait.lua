-- @include runs/lua/lib/is-active.lua
-- Registers a wait with its active run. The wait itself is stored next, in its own partition (store-wait.lua).
-- KEYS: run (hash)
-- ARGV: key of the wait, its location (JSON)
-- Returns 1: registered, now or before; 0: the run has ended.
local run = KEYS[1]
if not is_active(redis.call('HGET', run, FIELD_STATUS)) then
  return 0
end
redis.call('HSETNX', run .. SUFFIX_WAITS, ARGV[1], ARGV[2])
return 1
