-- Stores a copy of an archived event for a run.
-- KEYS: its overflow key (string), events in use (zset)
-- ARGV: member of the event in the events in use, event (text), time of the next check (ms)
-- Returns nothing.
local overflow, in_use = unpack(KEYS)
local member, text, due_at = unpack(ARGV)
-- A copy stored by an earlier version may have a TTL.
if not redis.call('SET', overflow, text, 'NX') then
  redis.call('PERSIST', overflow)
end
-- GT moves the check only forward: whoever read the earlier time then does not end this use.
redis.call('ZADD', in_use, 'GT', due_at, member)
