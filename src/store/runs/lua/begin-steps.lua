-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- @include events/lua/lib/stored-event.lua
-- @include runs/lua/lib/begin-step.lua
-- Records that steps have begun, each once. Steps of one response begin together, so that none of them is the last pending step by
-- chance.
-- KEYS: run (hash), bucket of its event (hash), overflow key of its event (string)
-- ARGV: field of the event in its bucket, maximum number of steps of a run, finished and begun, then for each step: step, pending step
--       (JSON), how long the event must stay (ms). Positional: this runs for every step that does not finish at once.
-- Returns for each step the pending step as it is stored; '': the step is finished or the run has ended; 'steps': the run has too many.
local run, bucket, overflow = unpack(KEYS)
local event_field, max_steps = ARGV[1], tonumber(ARGV[2])
local FIRST_STEP, ARGS_PER_STEP = 3, 3
local status, packed = unpack(redis.call('HMGET', run, FIELD_STATUS, FIELD_PACKED))
if packed then
  packed_runs().unpack(run)
end
local active = is_active(status)
local count = redis.call('HLEN', run .. SUFFIX_PENDING) + redis.call('LLEN', run .. SUFFIX_STACK)

local begun = {}
for i = FIRST_STEP, #ARGV, ARGS_PER_STEP do
  local stored, is_new = '', false
  if active then
    stored, is_new = begin_step(run, count, max_steps, { bucket, event_field, overflow }, unpack(ARGV, i, i + ARGS_PER_STEP - 1))
  end
  begun[#begun + 1] = stored
  count = count + (is_new and 1 or 0)
end
return begun
