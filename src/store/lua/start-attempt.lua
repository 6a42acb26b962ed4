-- Marks a run as being worked on, unless it has ended.
-- KEYS[1] run (hash)   KEYS[2] its event (string)
-- ARGV[1] time (ms)   ARGV[2] attempt, from 0   ARGV[3] retention (ms): the event stays at least so long after the attempt
-- Returns {fields and values of the run, record of the event or false}, or false when there is no such run or it has ended.
local status = redis.call('HGET', KEYS[1], 'status')
if not status or (status ~= 'Queued' and status ~= 'Running') then
  return false
end
redis.call('HSET', KEYS[1], 'status', 'Running', 'attempt', ARGV[2])
redis.call('HSETNX', KEYS[1], 'started_at', ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3], 'GT')
return {redis.call('HGETALL', KEYS[1]), redis.call('GET', KEYS[2])}
