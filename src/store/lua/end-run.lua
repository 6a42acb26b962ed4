-- Ends a run, once: what ended it first stands.
-- KEYS[1] run (hash)
-- ARGV[1] retention (ms)   ARGV[2…] fields and values to set
-- Returns 1 when this ended it, 0 when it had ended before or is not there.
local status = redis.call('HGET', KEYS[1], 'status')
if not status or (status ~= 'Queued' and status ~= 'Running') then
  return 0
end
redis.call('HDEL', KEYS[1], 'error')
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
