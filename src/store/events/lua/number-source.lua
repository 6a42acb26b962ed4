-- Gives a source of events the number that stands for it, once. None is ever taken away.
-- KEYS[1] sources (hash)  ARGV[1] source
-- Returns the number, from 1.
local number = redis.call('HGET', KEYS[1], ARGV[1])
if not number then
  number = redis.call('HLEN', KEYS[1]) + 1
  redis.call('HSET', KEYS[1], ARGV[1], number)
end
return tonumber(number)
