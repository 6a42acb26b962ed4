-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- @include events/lua/lib/stored-event.lua
-- Records that steps have begun, each once. Steps of one response begin together, so that none of them is the last pending step by
-- chance.
-- KEYS: run (hash), bucket of its event (hash), overflow key of its event (string)
-- ARGV: field of the event in its bucket, maximum number of steps of a run, finished and begun, then for each step: step, pending step
--       (JSON), how long the event must stay (ms). Positional: this runs for every step that does not finish at once.
-- Returns for each step the pending step as it is stored; '': the step is finished or the run has ended; 'steps': the run has too many.
local run, bucket, overflow = unpack(KEYS)
local event_field, max_steps = ARGV[1], tonumber(ARGV[2])
local FIRST_STEP, ARGS_PER_STEP = 3, 3
local pending, memos = run .. SUFFIX_PENDING, run .. SUFFIX_MEMOS
local status, packed = unpack(redis.call('HMGET', run, FIELD_STATUS, FIELD_PACKED))
if packed then
  packed_runs().unpack(run)
end
local active = is_active(status)
local count = redis.call('HLEN', pending) + redis.call('LLEN', run .. SUFFIX_STACK)

local function begin(step, pending_step, event_ttl)
  if not active or redis.call('HEXISTS', memos, step) == 1 then
    return ''
  end
  local stored = redis.call('HGET', pending, step)
  if stored then
    return stored
  end
  if count >= max_steps then
    return 'steps'
  end
  extend_retention(bucket, event_field, overflow, event_ttl)
  redis.call('HSET', pending, step, pending_step)
  count = count + 1
  return pending_step
end

local begun = {}
for i = FIRST_STEP, #ARGV, ARGS_PER_STEP do
  begun[#begun + 1] = begin(unpack(ARGV, i, i + ARGS_PER_STEP - 1))
end
return begun
