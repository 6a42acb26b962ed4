-- Ends the use of an archived event and removes its copy and its list of runs, unless a run was added since the list was read.
-- KEYS: events in use (zset), its overflow key (string), runs of its slice (hash), overflow key of its runs (string)
-- ARGV: its member in the events in use, its field in the runs of its slice, IDs of its runs as they were read, time of the next check
-- that was read (ms)
-- Returns 1: removed; 0: a run was added, or the event was taken into use again.
local in_use, overflow, runs, overflow_runs = unpack(KEYS)
local member, field, ids, due_at = unpack(ARGV)
local present = (redis.call('HGET', runs, field) or '') .. (redis.call('GET', overflow_runs) or '')
if present ~= ids or tonumber(redis.call('ZSCORE', in_use, member) or -1) ~= tonumber(due_at) then
  return 0
end
redis.call('ZREM', in_use, member)
redis.call('DEL', overflow, overflow_runs)
redis.call('HDEL', runs, field)
return 1
