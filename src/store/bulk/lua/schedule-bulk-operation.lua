-- Schedules a bulk operation, unless its status has changed, which made it due.
-- KEYS: operation (hash), due ones of the kind (zset)
-- ARGV: its member in the due ones, status as read ('': it was gone), time (ms; '': not scheduled)
-- Returns 1: scheduled; 0: it has another status.
local operation, due = unpack(KEYS)
local member, status, due_at = unpack(ARGV)
if (redis.call('HGET', operation, 'status') or '') ~= status then
  return 0
end
if due_at == '' then
  redis.call('ZREM', due, member)
else
  redis.call('ZADD', due, 'XX', due_at, member)
end
return 1
