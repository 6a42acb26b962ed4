-- Whether a run with this status has not ended; nil and false: there is no run.
local function is_active(status)
  return status == STATUS_QUEUED or status == STATUS_RUNNING
end
