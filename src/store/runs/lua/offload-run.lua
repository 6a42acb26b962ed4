-- @include runs/lua/lib/run-contents.lua
-- Removes a run that Postgres has, and sets its alarm. Does nothing if the run has changed since it was read.
-- KEYS: run (hash), active runs (zset), offloaded runs (zset)
-- ARGV: member of the run in the active runs, contents as they were read, next reconciliation as it was read (ms), time of the alarm (ms)
-- Returns 1: offloaded; 0: it has changed.
local run, active_runs, offloaded_runs = unpack(KEYS)
local member, contents, alarm, at = unpack(ARGV)
if redis.call('ZSCORE', active_runs, member) ~= alarm or run_contents(run) ~= contents then
  return 0
end
redis.call('ZADD', offloaded_runs, math.floor(at) + version_of(contents), member)
redis.call('ZREM', active_runs, member)
redis.call('DEL', run)
for _, suffix in ipairs(PART_SUFFIXES) do
  redis.call('DEL', run .. suffix)
end
return 1
