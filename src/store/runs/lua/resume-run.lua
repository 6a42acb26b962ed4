-- Ends the pause of a run. The run keeps its error until an attempt succeeds.
-- KEYS: run (hash), active runs (zset), paused runs of the environment (zset)
-- ARGV: run ID, member of the run in the active runs, time of the next reconciliation (ms): it makes the calls that are due if
--       this process dies
-- Returns 1: it was paused; 0: it was not, or has ended.
local run, active_runs, paused_runs = unpack(KEYS)
local run_id, member, reconcile_at = unpack(ARGV)
redis.call('ZREM', paused_runs, run_id)
if redis.call('HDEL', run, FIELD_PAUSED) == 0 then
  return 0
end
redis.call('HDEL', run, FIELD_FINGERPRINT, FIELD_UNCOUNTED)
redis.call('ZADD', active_runs, 'XX', reconcile_at, member)
return 1
