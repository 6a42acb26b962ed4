-- @include runs/lua/lib/is-active.lua
-- @include events/lua/lib/stored-event.lua
-- Records that a step has begun, once.
-- KEYS: run (hash), bucket of its event (hash), overflow key of its event (string)
-- ARGV: step, pending step (JSON), how long the event must stay (ms), field of the event in its bucket, maximum number of steps of a run,
--       finished and begun. Positional: this runs for every planned step.
-- Returns the pending step as it is stored; false: the step is finished or the run has ended; 'steps': the run has too many.
local run, bucket, overflow = unpack(KEYS)
local step, pending_step, event_ttl, event_field, max_steps = unpack(ARGV)
local pending = run .. SUFFIX_PENDING
if not is_active(redis.call('HGET', run, FIELD_STATUS)) or redis.call('HEXISTS', run .. SUFFIX_MEMOS, step) == 1 then
  return false
end
local stored = redis.call('HGET', pending, step)
if stored then
  return stored
end
if redis.call('HLEN', pending) + redis.call('LLEN', run .. SUFFIX_STACK) >= tonumber(max_steps) then
  return 'steps'
end
extend_retention(bucket, event_field, overflow, event_ttl)
redis.call('HSET', pending, step, pending_step)
return pending_step
