-- Says when a bulk operation goes on, unless somebody has changed its status, which has made it due.
-- KEYS: operation (hash), due ones of the kind (zset)
-- ARGV: its member in the due ones, status that it had ('': it was gone), when it goes on (ms; '': not by itself)
-- Returns 1: said; 0: it has another status.
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
