-- Notes that a step has begun, once.
-- KEYS[1] run (hash: run-fields.ts)  KEYS[2] bucket of its event (hash)  KEYS[3] kept copy of the event (string)
-- ARGV[1] step  ARGV[2] the pending step, as JSON  ARGV[3] how long the event must stay (ms)
-- ARGV[4] the event's field in KEYS[2]  ARGV[5] most steps of a run, finished and begun
-- Returns the pending step as it stands, false when the step is done or the run has ended, or 'steps' when the run has too many.
local status = redis.call('HGET', KEYS[1], 's')
if (status ~= 'Queued' and status ~= 'Running') or redis.call('HEXISTS', KEYS[1] .. ':memos', ARGV[1]) == 1 then
  return false
end
local pending = KEYS[1] .. ':pending'
local begun = redis.call('HGET', pending, ARGV[1])
if begun then
  return begun
end
if redis.call('HLEN', pending) + redis.call('LLEN', KEYS[1] .. ':stack') >= tonumber(ARGV[5]) then
  return 'steps'
end
keep_event(KEYS[2], ARGV[4], KEYS[3], ARGV[3])
redis.call('HSET', pending, ARGV[1], ARGV[2])
return ARGV[2]
