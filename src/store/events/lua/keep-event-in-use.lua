-- Keeps an archived event that is in Redis for a run that is about to begin. An event that is not archived yet has no entry, and gets none: Redis
-- keeps it anyway.
-- KEYS: bucket of the event (hash), its overflow key (string), events in use (zset)
-- ARGV: field of the event in the bucket, its member of the events in use, time of its next check (ms)
-- Returns 1 if Redis has the event, else 0.
local bucket, overflow, in_use = unpack(KEYS)
local field, member, due_at = unpack(ARGV)
if redis.call('HSTRLEN', bucket, field) > 0 then
  return 1
end
if redis.call('EXISTS', overflow) == 0 then
  return 0
end
redis.call('ZADD', in_use, 'XX', 'GT', due_at, member)
return 1
