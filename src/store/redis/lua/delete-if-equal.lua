-- Deletes each key that still has the given value.
-- KEYS: strings
-- ARGV: the value of each
-- Returns nothing.
for i, value in ipairs(ARGV) do
  if redis.call('GET', KEYS[i]) == value then
    redis.call('DEL', KEYS[i])
  end
end
