-- Removes archived runs of one function and ending, unless their metadata or log has changed since they were read.
-- KEYS: runs of the function with this ending (zset), prefix of a run's key
-- ARGV: for each run: its ID, the digest of its metadata (read-ended-runs.lua), the number of batches in its log ('': it has none)
-- Returns the IDs of the runs that stay.
local index, prefix = unpack(KEYS)
local staying = {}
for i = 1, #ARGV, 3 do
  local id, digest, batches = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local run = prefix .. id
  local metadata = redis.call('HGETALL', run .. SUFFIX_METADATA)
  local present = #metadata > 0 and redis.sha1hex(table.concat(metadata, '\n')) or ''
  local is_changed = present ~= digest or (redis.call('HGET', run .. SUFFIX_LOGS, 'm') or '') ~= batches
  -- A missing run was removed by an earlier try.
  if is_changed and redis.call('EXISTS', run) == 1 then
    staying[#staying + 1] = id
  else
    redis.call('DEL', run, run .. SUFFIX_MEMOS, run .. SUFFIX_STACK, run .. SUFFIX_HISTORY, run .. SUFFIX_METADATA, run .. SUFFIX_LOGS)
    redis.call('ZREM', index, id)
  end
end
return staying
