-- Postpones the check of an archived event that Redis has a copy of.
-- KEYS: bucket of the event (hash), its overflow key (string), events in use (zset)
-- ARGV: field of the event in the bucket, its member in the events in use, time of the next check (ms)
-- Returns "bucket": the event is in its bucket; "copy": at its overflow key; "gone": Redis does not have it.
local bucket, overflow, in_use = unpack(KEYS)
local field, member, due_at = unpack(ARGV)
if redis.call('HSTRLEN', bucket, field) > 0 then
  return 'bucket'
end
if redis.call('EXISTS', overflow) == 0 then
  return 'gone'
end
-- Updates only: an event that is not archived yet has no entry, and the end of its use would remove it.
redis.call('ZADD', in_use, 'XX', 'GT', due_at, member)
return 'copy'
