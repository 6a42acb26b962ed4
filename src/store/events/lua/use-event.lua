-- Keeps a copy of an archived event, because a run needs it.
-- KEYS: its overflow key (string), events in use (zset)
-- ARGV: member of the event in the events in use, event (text), time of the next check (ms)
-- Returns nothing.
local overflow, in_use = unpack(KEYS)
local member, text, due_at = unpack(ARGV)
-- Of an earlier version the copy may have a TTL.
if not redis.call('SET', overflow, text, 'NX') then
  redis.call('PERSIST', overflow)
end
-- A later check: whoever has read the earlier time does not end this use.
redis.call('ZADD', in_use, 'GT', due_at, member)
