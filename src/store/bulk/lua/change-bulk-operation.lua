-- Changes the status of a bulk operation, and makes it due.
-- KEYS: operation (hash)
--       due operations of the kind (zset)
--       open operations of the kind and environment (set)
--       portion (hash)
--       active runs (set)
--       then lists of results
-- ARGV: ID
--       its member in the due operations
--       now (ms)
--       new status
--       whether it stays open
--       statuses in which the change is possible, separated by commas
--       TTL (ms)
--       TTL of results (ms)
--       then fields and values to set
-- Returns 1: changed;
--         0: it has another status;
--         -1: there is no such operation.
local operation, due, open = unpack(KEYS)
local id, member, now, status, stays_open, from, ttl, results_ttl = unpack(ARGV, 1, 8)
local FIRST_FIELD = 9
local FIRST_OWN, FIRST_LIST = 4, 6

local present = redis.call('HGET', operation, 'status')
if not present then
  redis.call('ZREM', due, member)
  redis.call('SREM', open, id)
  return -1
end
if not string.find(',' .. from .. ',', ',' .. present .. ',', 1, true) then
  return 0
end
redis.call('HSET', operation, 'status', status, unpack(ARGV, FIRST_FIELD))
redis.call('HDEL', operation, 'waiting')
redis.call('PEXPIRE', operation, ttl)
for i = FIRST_OWN, #KEYS do
  redis.call('PEXPIRE', KEYS[i], i < FIRST_LIST and ttl or results_ttl)
end
if stays_open ~= '1' then
  redis.call('SREM', open, id)
end
redis.call('ZADD', due, now, member)
return 1
