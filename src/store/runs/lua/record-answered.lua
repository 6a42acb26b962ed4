-- Records that a call was answered, unless a later call was, or the run is gone.
-- KEYS: run (hash)
-- ARGV: number of finished steps when the call was made
-- Returns nothing.
local run, steps = KEYS[1], ARGV[1]
local status, answered_at, checkpoint = unpack(redis.call('HMGET', run, FIELD_STATUS, FIELD_ANSWERED_AT, FIELD_CHECKPOINT))
-- The call continued from its own checkpoints, so it was answered with the steps of the last one.
local length, owner = string.match(checkpoint or '', '^(%d+):(.+)$')
if owner == steps then
  steps = length
end
if status and tonumber(answered_at or -1) < tonumber(steps) then
  redis.call('HSET', run, FIELD_ANSWERED_AT, steps)
end
