-- Assigns a number to a source of events, once. Numbers are never reused.
-- KEYS: sources (hash)
-- ARGV: source
-- Returns the number, from 1.
local sources, source = KEYS[1], ARGV[1]
local number = redis.call('HGET', sources, source)
if not number then
  number = redis.call('HLEN', sources) + 1
  redis.call('HSET', sources, source, number)
end
return tonumber(number)
