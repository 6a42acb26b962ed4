-- @include runs/lua/lib/run-contents.lua
-- Stores an offloaded run again, with contents from Postgres. Does nothing if it has returned, or these contents are older than those with
-- which it was offloaded last.
-- KEYS: run (hash), active runs (zset), active runs of the environment (zset), active runs of the function (zset), offloaded runs (hash),
--       offloaded runs by function (hash)
-- ARGV: run ID, function ID, time of its creation (ms), member of the run in the active runs, contents, latest time of its next
--       reconciliation (ms), '1' for contents of any version, or ''; prefix of keys before a move to a cluster, and what it is now
-- Returns 1: it has returned, now or before; 0: other contents are in force; -1: the run has been deleted.
local run, active_runs, active_runs_in_env, active_runs_of_function, offloaded_runs, offloaded_by_function = unpack(KEYS)
local id, function_id, queued_at, member, contents, latest, is_any_version, former_prefix, prefix = unpack(ARGV)
local alarm = redis.call('HGET', offloaded_runs, id)
if not alarm then
  return redis.call('EXISTS', run) == 1 and 1 or -1
end
local at, version = read_alarm(alarm)
if is_any_version ~= '1' and version ~= version_of(contents) then
  return 0
end

-- The locations of waits are names of keys (wait-location.ts).
local function renamed(location)
  local names = cjson.decode(location)
  local is_changed = false
  for i, name in ipairs(names) do
    if name and string.sub(name, 1, #former_prefix) == former_prefix then
      names[i] = prefix .. string.sub(name, #former_prefix + 1)
      is_changed = true
    end
  end
  return is_changed and cjson.encode(names) or location
end

local parts = cmsgpack.unpack(contents)
for i = 1, #parts, 3 do
  local key, kind, values = run .. parts[i], parts[i + 1], parts[i + 2]
  if kind == 'list' then
    -- The contents go before entries that were appended meanwhile.
    for n = #values, 1, -1 do
      redis.call('LPUSH', key, values[n])
    end
  else
    for n = 1, #values, 2 do
      local value = values[n + 1]
      redis.call('HSETNX', key, values[n], parts[i] == SUFFIX_WAITS and renamed(value) or value)
    end
  end
end
redis.call('ZADD', active_runs, math.min(at, tonumber(latest)), member)
redis.call('ZADD', active_runs_in_env, queued_at, id)
redis.call('ZADD', active_runs_of_function, queued_at, id)
redis.call('HDEL', offloaded_runs, id)
if redis.call('HINCRBY', offloaded_by_function, function_id, -1) <= 0 then
  redis.call('HDEL', offloaded_by_function, function_id)
end
return 1
