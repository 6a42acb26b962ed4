-- @include runs/lua/lib/run-contents.lua
-- Stores a run again that was offloaded, with contents from Postgres. Does nothing if it has returned, or these contents are older than
-- those with which it was offloaded last.
-- KEYS: run (hash), active runs (zset), offloaded runs (zset)
-- ARGV: member of the run in the active runs, contents, latest time of its next reconciliation (ms), '1' for contents of
--       any version, or ''
-- Returns 1: it has returned, now or before; 0: other contents are in force; -1: the run has been deleted.
local run, active_runs, offloaded_runs = unpack(KEYS)
local member, contents, latest, is_any_version = unpack(ARGV)
local alarm = tonumber(redis.call('ZSCORE', offloaded_runs, member))
if not alarm then
  return redis.call('EXISTS', run) == 1 and 1 or -1
end
if is_any_version ~= '1' and alarm % 1 ~= version_of(contents) then
  return 0
end
local parts = cmsgpack.unpack(contents)
for i = 1, #parts, 3 do
  local key, kind, values = run .. parts[i], parts[i + 1], parts[i + 2]
  if kind == 'list' then
    -- What was appended meanwhile stays behind.
    for n = #values, 1, -1 do
      redis.call('LPUSH', key, values[n])
    end
  else
    for n = 1, #values, 2 do
      redis.call('HSETNX', key, values[n], values[n + 1])
    end
  end
end
redis.call('ZADD', active_runs, math.min(math.floor(alarm), tonumber(latest)), member)
redis.call('ZREM', offloaded_runs, member)
return 1
