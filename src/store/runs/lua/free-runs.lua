-- Removes ended runs that are archived, of one function and ending.
-- KEYS: runs of the function that ended likewise (zset), what precedes the run ID in the key of a run
-- ARGV: run IDs
-- Returns nothing.
local index, prefix = unpack(KEYS)
for _, id in ipairs(ARGV) do
  local run = prefix .. id
  redis.call('DEL', run, run .. SUFFIX_MEMOS, run .. SUFFIX_STACK, run .. SUFFIX_HISTORY, run .. SUFFIX_METADATA)
end
redis.call('ZREM', index, unpack(ARGV))
