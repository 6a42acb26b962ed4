-- Counts how a run ended on a version, if that ramps up.
-- pinned_runs: key of the active runs that end on the version
-- ending: status of the run, or 'Paused': it waits for a person instead of failing
local function count_end(pinned_runs, ending)
  local ends = pinned_runs .. SUFFIX_RAMP_ENDS
  if redis.call('EXISTS', ends) == 1 then
    redis.call('HINCRBY', ends, ending, 1)
  end
end
