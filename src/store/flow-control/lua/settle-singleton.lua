-- Records that the runs before the holder are cancelled, or that the holder has ended, which frees the singleton.
-- KEYS: holder (string: as in claim-singleton.lua)
-- ARGV: run ID, 1: it has ended, 0: the runs before it are cancelled
-- Returns 1: done; 0: another run holds the singleton.
local held = redis.call('GET', KEYS[1])
if not held or string.match(held, '^%S+') ~= ARGV[1] then
  return 0
end
if ARGV[2] == '1' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], string.match(held, '^%S+ %S+'))
end
return 1
