-- @include redis/lua/lib/now.lua
-- Schedules checks, by Redis's clock.
-- KEYS: checks of admissions (zset)
-- ARGV: of each check: time until it is due (ms), what is checked
local now = time_now()
for i = 1, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], now + ARGV[i], ARGV[i + 1])
end
