-- Stores what a step came to. First write wins: a memo, once stored, never changes.
-- KEYS[1] run (hash: run-fields.ts)
-- ARGV[1] step  ARGV[2] memo  ARGV[3] most steps  ARGV[4] most bytes of all memos
-- Returns {outcome, length of the stack, run, the step as it was pending or false}: 'stored', 'there' (an earlier memo stands), 'ended',
-- 'steps' or 'bytes' (too many); or {'gone'}.
local memos, stack, pending = KEYS[1] .. ':memos', KEYS[1] .. ':stack', KEYS[1] .. ':pending'
local status = redis.call('HGET', KEYS[1], 's')
if not status then
  return {'gone'}
end
local run = redis.call('HGETALL', KEYS[1])
if status ~= 'Queued' and status ~= 'Running' then
  return {'ended', 0, run}
end
local length = redis.call('LLEN', stack)
if redis.call('HEXISTS', memos, ARGV[1]) == 1 then
  return {'there', length, run}
end
if length >= tonumber(ARGV[3]) then
  return {'steps', length, run}
end
if redis.call('HINCRBY', KEYS[1], 'memo_bytes', #ARGV[2]) > tonumber(ARGV[4]) then
  return {'bytes', length, run}
end
redis.call('HSET', memos, ARGV[1], ARGV[2])
local step = redis.call('HGET', pending, ARGV[1])
redis.call('HDEL', pending, ARGV[1])
return {'stored', redis.call('RPUSH', stack, ARGV[1]), run, step}
