-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/count-end.lua
-- Pauses a run, once: no call of it starts until it is resumed. The first pause is kept.
-- KEYS: run (hash), paused runs of the environment (zset)
-- ARGV: run ID, pause (JSON), error (JSON), fingerprint of the error, name of the failed step or ''
-- Returns 1: it is paused now; 0: it was paused before, has ended, or does not exist.
local run, paused_runs = unpack(KEYS)
local run_id, pause, error, fingerprint, step = unpack(ARGV)
local status, queued_at, paused, version = unpack(redis.call(
  'HMGET', run, FIELD_STATUS, FIELD_QUEUED_AT, FIELD_PAUSED, FIELD_VERSION
))
if not is_active(status) or paused then
  return 0
end
redis.call('HSET', run, FIELD_PAUSED, pause, FIELD_ERROR, error, FIELD_FINGERPRINT, fingerprint, FIELD_UNCOUNTED, step)
redis.call('ZADD', paused_runs, queued_at, run_id)
if version then
  local active_runs_in_env = string.sub(paused_runs, 1, -1 - #SUFFIX_PAUSED_RUNS)
  count_end(active_runs_in_env .. ':' .. version, 'Paused')
end
return 1
