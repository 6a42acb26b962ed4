-- Subtracts from counts, and deletes counts that become zero.
-- KEYS: counts (strings)
-- ARGV: what to subtract from each
-- Returns nothing.
for i, count in ipairs(ARGV) do
  if redis.call('EXISTS', KEYS[i]) == 1 and redis.call('DECRBY', KEYS[i], count) <= 0 then
    redis.call('DEL', KEYS[i])
  end
end
