-- Stores the details of a request while it is missing.
-- KEYS: missing (zset: provider's ID by time), details of missing requests (hash)
-- ARGV: ID, details (JSON)
-- Returns 1; 0: it is not missing.
local missing, details = unpack(KEYS)
local id, about = unpack(ARGV)

if not redis.call('ZSCORE', missing, id) then
  return 0
end
redis.call('HSET', details, id, about)
return 1
