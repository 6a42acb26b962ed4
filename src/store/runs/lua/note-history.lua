-- Adds to a run's history, which is kept no longer than the run: one that has ended meanwhile may expire, or be gone.
-- KEYS[1] run (hash)
-- ARGV[1…] entries
-- Returns nothing.
local history = KEYS[1] .. ':history'
-- Lua's stack has no room for any number of them.
for first = 1, #ARGV, 1000 do
  redis.call('RPUSH', history, unpack(ARGV, first, math.min(first + 999, #ARGV)))
end
local left = redis.call('PTTL', KEYS[1])
if left ~= -1 then
  redis.call('PEXPIRE', history, math.max(left, 1))
end
