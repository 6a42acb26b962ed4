-- Stores an event under its overflow key, unless it is stored already.
-- KEYS: bucket of the event (hash), its overflow key (string)
-- ARGV: field of the event in the bucket, event (text), TTL (ms)
-- Returns 1: stored; 0: it was stored before.
local bucket, overflow = unpack(KEYS)
local field, text, ttl = unpack(ARGV)
if redis.call('HSTRLEN', bucket, field) > 0 then
  return 0
end
return redis.call('SET', overflow, text, 'NX', 'PX', ttl) and 1 or 0
