-- @include flow-control/lua/lib/now.lua
-- @include flow-control/lua/lib/look.lua
-- Marks closed batches whose runs are created. They are removed a little later, when no ingest job can add their events again without
-- doubt.
-- KEYS: as of add-to-batches.lua
-- ARGV: timeout (ms), time until they are removed (ms), then their IDs
-- Returns the look to schedule.
local _, times, closed, closed_times, _, look = unpack(KEYS, 1, 6)
local timeout, linger = unpack(ARGV, 1, 2)

local now = time_now()
for i = 3, #ARGV do
  local text = redis.call('HGET', closed, ARGV[i])
  if text and string.sub(text, 1, 1) == 'c' then
    redis.call('HSET', closed, ARGV[i], 'd' .. string.sub(text, 2))
    redis.call('ZADD', closed_times, now + linger, ARGV[i])
  end
end
return look_to_set(look, now, earliest(first_after(times, timeout), first_after(closed_times, 0)))
