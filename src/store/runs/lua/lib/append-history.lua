-- Appends the entries from ARGV[first] on to a run's history, which lives no longer than the run: an ended run may expire or be gone.
local function append_history(run, first)
  local history = run .. SUFFIX_HISTORY
  -- Lua's stack limits the number of arguments.
  local PUSHED_AT_ONCE = 1000
  for i = first, #ARGV, PUSHED_AT_ONCE do
    redis.call('RPUSH', history, unpack(ARGV, i, math.min(i + PUSHED_AT_ONCE - 1, #ARGV)))
  end
  local left = redis.call('PTTL', run)
  if left ~= -1 then
    redis.call('PEXPIRE', history, math.max(left, 1))
  end
end
