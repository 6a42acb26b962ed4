-- @include runs/lua/lib/run-contents.lua
-- Removes a run that Postgres has, with its entries in lists, and sets its alarm. Does nothing if the run has changed since it
-- was read, or if these contents are offloaded already: a client that lost the response sends the command again, and so may another worker.
-- KEYS: run (hash), active runs (zset), active runs of the environment (zset), active runs of the function (zset), offloaded runs (hash),
--       offloaded runs by function (hash)
-- ARGV: run ID, function ID, member of the run in the active runs, contents as they were read, next reconciliation as it was read (ms),
--       time of the alarm (ms)
-- Returns 1: offloaded, now or before; 0: it has changed.
local run, active_runs, active_runs_in_env, active_runs_of_function, offloaded_runs, offloaded_by_function = unpack(KEYS)
local id, function_id, member, contents, reconcile_at, alarm_at = unpack(ARGV)
local alarm = redis.call('HGET', offloaded_runs, id)
if alarm then
  local _, version = read_alarm(alarm)
  return version == version_of(contents) and 1 or 0
end
if redis.call('ZSCORE', active_runs, member) ~= reconcile_at or run_contents(run) ~= contents then
  return 0
end
redis.call('HSET', offloaded_runs, id, alarm_of(alarm_at, contents))
redis.call('HINCRBY', offloaded_by_function, function_id, 1)
redis.call('ZREM', active_runs, member)
redis.call('ZREM', active_runs_in_env, id)
redis.call('ZREM', active_runs_of_function, id)
redis.call('DEL', run)
for _, suffix in ipairs(PART_SUFFIXES) do
  redis.call('DEL', run .. suffix)
end
return 1
