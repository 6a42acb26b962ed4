-- Appends to a run's history, which lives no longer than the run: an ended run may expire or be gone.
-- KEYS: run (hash)
-- ARGV: entries (JSON)
-- Returns nothing.
local run = KEYS[1]
local history = run .. SUFFIX_HISTORY
-- Lua's stack limits the number of arguments.
local PUSHED_AT_ONCE = 1000
for first = 1, #ARGV, PUSHED_AT_ONCE do
  redis.call('RPUSH', history, unpack(ARGV, first, math.min(first + PUSHED_AT_ONCE - 1, #ARGV)))
end
local left = redis.call('PTTL', run)
if left ~= -1 then
  redis.call('PEXPIRE', history, math.max(left, 1))
end
