-- Begins a call of a run's function, unless there is nothing to call it for.
-- KEYS[1] run (hash: run-fields.ts)  KEYS[2] bucket of its event (hash)  KEYS[3] kept copy of its event (string)  KEYS[4] active runs (zset)
-- ARGV[1] time (ms)  ARGV[2] attempt, from 0  ARGV[3] retention (ms): the event stays at least so long  ARGV[4] the run's member in KEYS[4]
-- ARGV[5] when to look after the run if nothing is heard of it (ms)  ARGV[6] length of the stack the call is for, or ''  ARGV[7] step to run, or ''
-- ARGV[8] the event's field in KEYS[2]
-- Returns {'call', run, event or false, stack, memos, count of pending, 1 if new steps are only to be planned}, {'ended', run} when the run has ended,
-- {'superseded'} when a later call does this one's work or the step is done, or {'gone'}.
local memos, stack = KEYS[1] .. ':memos', KEYS[1] .. ':stack'
local status, started = unpack(redis.call('HMGET', KEYS[1], 's', 'b'))
if not status then
  return {'gone'}
end
if status ~= 'Queued' and status ~= 'Running' then
  return {'ended', redis.call('HGETALL', KEYS[1])}
end
local done = redis.call('LRANGE', stack, 0, -1)
if ARGV[6] ~= '' and #done ~= tonumber(ARGV[6]) then
  return {'superseded'}
end
if ARGV[7] ~= '' and redis.call('HEXISTS', memos, ARGV[7]) == 1 then
  return {'superseded'}
end
redis.call('HSET', KEYS[1], 's', 'Running', 'a', ARGV[2], 'b', started or ARGV[1])
keep_event(KEYS[2], ARGV[8], KEYS[3], ARGV[3])
redis.call('ZADD', KEYS[4], ARGV[5], ARGV[4])
local run = redis.call('HGETALL', KEYS[1])
local pending = redis.call('HLEN', KEYS[1] .. ':pending')
local plan_only = pending > 0
if ARGV[6] ~= '' then
  -- A call that only plans, and has not been answered, may yet plan what is new to this one.
  local own = 'planning:' .. ARGV[6]
  for i = 1, #run, 2 do
    if string.sub(run[i], 1, 9) == 'planning:' and run[i] ~= own then
      plan_only = true
    end
  end
  if plan_only then
    redis.call('HSET', KEYS[1], own, 1)
  end
end
return {
  'call', run, read_event(KEYS[2], ARGV[8], KEYS[3]), done, #done == 0 and {} or redis.call('HGETALL', memos),
  pending, plan_only and 1 or 0
}
