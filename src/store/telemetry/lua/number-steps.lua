-- Numbers the steps of a function for a day: their names are stored once, and counts are stored by number.
-- KEYS: numbers (hash: name -> number)
-- ARGV: maximum number of names, TTL (ms), names …
-- Returns the number of each name; names beyond the maximum get the number after the last.
local most = tonumber(ARGV[1])
local size = redis.call('HLEN', KEYS[1])
local numbers = {}
for i = 3, #ARGV do
  local number = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or most)
  if number == most and size < most then
    number = size
    size = size + 1
    redis.call('HSET', KEYS[1], ARGV[i], number)
  end
  numbers[#numbers + 1] = number
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return numbers
