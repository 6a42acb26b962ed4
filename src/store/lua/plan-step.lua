-- Notes that a step has begun, once.
-- KEYS[1] run (hash: run-fields.ts)  KEYS[2] memos (hash)  KEYS[3] pending (hash)  KEYS[4] bucket of the run's event (hash)
-- KEYS[5] kept copy of the event (string)
-- ARGV[1] step  ARGV[2] the pending step, as JSON  ARGV[3] how long the event must stay (ms)
-- ARGV[4] the event's field in KEYS[4]
-- Returns the pending step as it stands, or false when the step is done or the run has ended.
local status = redis.call('HGET', KEYS[1], 's')
if (status ~= 'Queued' and status ~= 'Running') or redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then
  return false
end
keep_event(KEYS[4], ARGV[4], KEYS[5], ARGV[3])
redis.call('HSETNX', KEYS[3], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[3], ARGV[1])
