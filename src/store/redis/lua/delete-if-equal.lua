-- Deletes each key that has a value.
-- KEYS: strings
-- ARGV: the value of each
-- Returns nothing.
for i, value in ipairs(ARGV) do
  if redis.call('GET', KEYS[i]) == value then
    redis.call('DEL', KEYS[i])
  end
end
