-- Removes the copies and the lists of runs of archived events, except of those that are in use.
-- KEYS: events in use (zset), then for each event: its overflow key (string), runs of its slice (hash), overflow key of its runs (string)
-- ARGV: for each event: its member in the events in use, its field in the runs of its slice
-- Returns nothing.
local in_use = KEYS[1]
for i = 1, #ARGV, 2 do
  local key = 2 + (i - 1) / 2 * 3
  local member, field = ARGV[i], ARGV[i + 1]
  if not redis.call('ZSCORE', in_use, member) then
    redis.call('DEL', KEYS[key], KEYS[key + 2])
    redis.call('HDEL', KEYS[key + 1], field)
  end
end
