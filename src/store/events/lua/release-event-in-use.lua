-- Removes an archived event and the list of its runs, unless a run was created in the meantime.
-- KEYS: overflow key of the event (string), events in use (zset), runs of the events of its slice (hash), overflow key of its runs (string)
-- ARGV: member of the event in the events in use, field of the event in the hash of runs, IDs of the runs that it has, concatenated in the
--       order of creation
-- Returns 1: removed; 0: it has other runs, and stays.
local overflow, in_use, event_runs, overflow_event_runs = unpack(KEYS)
local member, field, expected = unpack(ARGV)
local runs = (redis.call('HGET', event_runs, field) or '') .. (redis.call('GET', overflow_event_runs) or '')
if runs ~= expected then
  return 0
end
redis.call('DEL', overflow, overflow_event_runs)
redis.call('HDEL', event_runs, field)
redis.call('ZREM', in_use, member)
return 1
