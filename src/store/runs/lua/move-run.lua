-- @include runs/lua/lib/is-active.lua
-- Changes the version on which an active run ends.
-- KEYS: run (hash), active runs of the environment (zset; `:` and a version follow for the index of that version)
-- ARGV: run ID, version or '' (the run continues with the active one)
-- Returns 1; 0: it has ended, or does not exist.
local run, active_runs_in_env = unpack(KEYS)
local run_id, to = unpack(ARGV)
local status, from, queued_at = unpack(redis.call('HMGET', run, FIELD_STATUS, FIELD_VERSION, FIELD_QUEUED_AT))
if not is_active(status) then
  return 0
end
if from then
  redis.call('ZREM', active_runs_in_env .. ':' .. from, run_id)
  redis.call('HDEL', run, FIELD_VERSION)
end
if to ~= '' then
  redis.call('HSET', run, FIELD_VERSION, to)
  redis.call('ZADD', active_runs_in_env .. ':' .. to, queued_at, run_id)
end
return 1
