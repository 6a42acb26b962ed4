-- Notes that a step has begun, once.
-- KEYS[1] run (hash: run-fields.ts)  KEYS[2] bucket of its event (hash)  KEYS[3] kept copy of the event (string)
-- ARGV[1] step  ARGV[2] the pending step, as JSON  ARGV[3] how long the event must stay (ms)
-- ARGV[4] the event's field in KEYS[2]
-- Returns the pending step as it stands, or false when the step is done or the run has ended.
local status = redis.call('HGET', KEYS[1], 's')
if (status ~= 'Queued' and status ~= 'Running') or redis.call('HEXISTS', KEYS[1] .. ':memos', ARGV[1]) == 1 then
  return false
end
keep_event(KEYS[2], ARGV[4], KEYS[3], ARGV[3])
local pending = KEYS[1] .. ':pending'
redis.call('HSETNX', pending, ARGV[1], ARGV[2])
return redis.call('HGET', pending, ARGV[1])
