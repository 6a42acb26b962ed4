-- Notes that a step has begun, once.
-- KEYS[1] run (hash)  KEYS[2] memos (hash)  KEYS[3] pending (hash)  KEYS[4] the run's event (string)
-- ARGV[1] step  ARGV[2] the pending step, as JSON  ARGV[3] how long the event must stay (ms)
-- Returns the pending step as it stands, or false when the step is done or the run has ended.
local status = redis.call('HGET', KEYS[1], 'status')
if (status ~= 'Queued' and status ~= 'Running') or redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then
  return false
end
redis.call('PEXPIRE', KEYS[4], ARGV[3], 'GT')
redis.call('HSETNX', KEYS[3], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[3], ARGV[1])
