-- Ends a run, once: what ended it first stands. It moves from the active runs of its function to those that ended likewise.
-- KEYS[1] run (hash: run-fields.ts)  KEYS[2] active runs (zset)  KEYS[3] pending (hash)  KEYS[4] active runs of its function (zset)
-- KEYS[5] runs of its function that ended likewise (zset)  KEYS[6…] what else is kept of it
-- ARGV[1] retention (ms)  ARGV[2] the run's member in KEYS[2]  ARGV[3] run ID  ARGV[4] what precedes a run's ID in its key
-- ARGV[5] time (ms)  ARGV[6] a random number from 0 to 1  ARGV[7…] fields and values to set
-- Returns 1 when this ended it, 0 when it had ended before or is not there.
local TRIMMED_AT_ONCE = 8
local status = redis.call('HGET', KEYS[1], 's')
if not status or (status ~= 'Queued' and status ~= 'Running') then
  return 0
end
redis.call('HDEL', KEYS[1], 'error')
redis.call('HSET', KEYS[1], unpack(ARGV, 7))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[3])
redis.call('ZREM', KEYS[4], ARGV[3])
redis.call('ZADD', KEYS[5], redis.call('HGET', KEYS[1], 'q'), ARGV[3])
for i = 5, #KEYS do
  redis.call('PEXPIRE', KEYS[i], ARGV[1])
end
-- Runs are listed by when they were queued and expire by when they ended: of those that are old enough to be gone, a few are looked at.
local old = redis.call('ZCOUNT', KEYS[5], '-inf', ARGV[5] - ARGV[1])
if old > 0 then
  local first = math.floor(ARGV[6] * math.max(1, old - TRIMMED_AT_ONCE + 1))
  for _, id in ipairs(redis.call('ZRANGE', KEYS[5], first, first + TRIMMED_AT_ONCE - 1)) do
    if redis.call('EXISTS', ARGV[4] .. id) == 0 then
      redis.call('ZREM', KEYS[5], id)
    end
  end
end
return 1
