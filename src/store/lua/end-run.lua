-- Ends a run, once: what ended it first stands.
-- KEYS[1] run (hash)  KEYS[2] active runs (zset)  KEYS[3] pending (hash)  KEYS[4…] what else is kept of it
-- ARGV[1] retention (ms)  ARGV[2] the run's member in KEYS[2]  ARGV[3…] fields and values to set
-- Returns 1 when this ended it, 0 when it had ended before or is not there.
local status = redis.call('HGET', KEYS[1], 'status')
if not status or (status ~= 'Queued' and status ~= 'Running') then
  return 0
end
redis.call('HDEL', KEYS[1], 'error')
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[3])
for i = 4, #KEYS do
  redis.call('PEXPIRE', KEYS[i], ARGV[1])
end
return 1
