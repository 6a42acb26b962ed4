-- @include redis/lua/lib/read-fields.lua
-- @include redis/lua/lib/finish-job.lua
-- Takes the next waiting jobs. The worker that was woken has removed the queue's marker, so others are woken if more jobs wait.
-- KEYS: waiting jobs (list)
-- ARGV: token for their locks, now (ms), duration of locks (ms), how many it takes. Positional: this runs for every job.
-- Returns what take_job does.
local prefix = string.sub(KEYS[1], 1, -1 - #QUEUE_WAITING)
local taken = take_job(prefix, unpack(ARGV))
if taken[5] == 0 then
  redis.call('ZADD', prefix .. QUEUE_MARKER, 0, '0')
end
return taken
