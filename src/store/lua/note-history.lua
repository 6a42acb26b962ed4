-- Adds to a run's history, which is kept no longer than the run: one that has ended meanwhile may expire, or be gone.
-- KEYS[1] run (hash)  KEYS[2] history (list)
-- ARGV[1…] entries
-- Returns nothing.
redis.call('RPUSH', KEYS[2], unpack(ARGV))
local left = redis.call('PTTL', KEYS[1])
if left ~= -1 then
  redis.call('PEXPIRE', KEYS[2], math.max(left, 1))
end
