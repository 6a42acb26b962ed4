-- @include runs/lua/lib/record-answered.lua
-- Records that a call was answered, unless a later call was answered, or the run is gone.
-- KEYS: run (hash)
-- ARGV: number of finished steps when the call was made
-- Returns nothing.
local run, steps = KEYS[1], ARGV[1]
local status, answered_at, checkpoint = unpack(redis.call('HMGET', run, FIELD_STATUS, FIELD_ANSWERED_AT, FIELD_CHECKPOINT))
if status then
  record_answered(run, steps, answered_at, checkpoint)
end
