-- @include runs/lua/lib/kept-parts.lua
-- Removes archived runs of one function and ending, unless a part of theirs has changed since they were read.
-- KEYS: runs of the function with this ending (zset), prefix of a run's key
-- ARGV: for each run: its ID, the version of its parts (read-ended-runs.lua)
-- Returns the IDs of the runs that stay.
local index, prefix = unpack(KEYS)
local staying = {}
for i = 1, #ARGV, 2 do
  local id, version = ARGV[i], ARGV[i + 1]
  local run = prefix .. id
  local keys, versions = { run }, {}
  for n, part in ipairs(KEPT_PARTS) do
    keys[n + 1] = run .. part[1]
    versions[n] = version_of(run, part)
  end
  -- A run that is gone was removed by an earlier try.
  if table.concat(versions, ' ') ~= version and redis.call('EXISTS', run) == 1 then
    staying[#staying + 1] = id
  else
    redis.call('DEL', unpack(keys))
    redis.call('ZREM', index, id)
  end
end
return staying
