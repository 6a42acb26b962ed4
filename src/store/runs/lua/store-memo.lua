-- @include runs/lua/lib/is-active.lua
-- Stores the result of a step. First write wins: a stored memo never changes.
-- KEYS: run (hash)
-- ARGV: step, memo (JSON), maximum number of steps, maximum bytes of all memos. Positional: this runs for every step.
-- Returns {outcome, length of the stack, run, the pending step or false}; outcomes: 'stored', 'there' (an earlier memo stands), 'ended',
-- 'steps' or 'bytes' (too many), 'gone'.
local run = KEYS[1]
local step, memo, max_steps, max_bytes = unpack(ARGV)
local memos, stack, pending = run .. SUFFIX_MEMOS, run .. SUFFIX_STACK, run .. SUFFIX_PENDING
local status = redis.call('HGET', run, FIELD_STATUS)
if not status then
  return {'gone'}
end
local fields = redis.call('HGETALL', run)
if not is_active(status) then
  return {'ended', 0, fields}
end
local length = redis.call('LLEN', stack)
if redis.call('HEXISTS', memos, step) == 1 then
  return {'there', length, fields}
end
if length >= tonumber(max_steps) then
  return {'steps', length, fields}
end
if redis.call('HINCRBY', run, FIELD_MEMO_BYTES, #memo) > tonumber(max_bytes) then
  return {'bytes', length, fields}
end
redis.call('HSET', memos, step, memo)
local pending_step = redis.call('HGET', pending, step)
redis.call('HDEL', pending, step)
return {'stored', redis.call('RPUSH', stack, step), fields, pending_step}
