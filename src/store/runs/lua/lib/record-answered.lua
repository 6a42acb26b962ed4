-- Records that a call was answered, unless a later call was answered.
-- `steps`: number of finished steps when the call was made; `answered_at`, `checkpoint`: these fields of the run.
local function record_answered(run, steps, answered_at, checkpoint)
  -- The call continued from its own checkpoints, so it was answered with the steps of the last one.
  local length, owner = string.match(checkpoint or '', '^(%d+):(.+)$')
  if owner == steps then
    steps = length
  end
  if tonumber(answered_at or -1) < tonumber(steps) then
    redis.call('HSET', run, FIELD_ANSWERED_AT, steps)
  end
end
