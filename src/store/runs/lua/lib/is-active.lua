-- Whether the status is that of an active run; nil and false: there is no run.
local function is_active(status)
  return status == STATUS_QUEUED or status == STATUS_RUNNING
end
