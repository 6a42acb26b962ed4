-- Changes the status of a replay, and makes it due.
-- KEYS: replay (hash), due replays (zset), open replays of the environment (set)
-- ARGV: ID, its member in the due replays, now (ms), new status, whether it stays open, statuses that it may have, separated by commas; then fields and
--       values to set
-- Returns 1: changed; 0: it has another status; -1: there is no such replay.
local replay, due, open = unpack(KEYS)
local id, member, now, status, stays_open, from = unpack(ARGV, 1, 6)
local FIRST_FIELD = 7

local present = redis.call('HGET', replay, 'status')
if not present then
  redis.call('ZREM', due, member)
  redis.call('SREM', open, id)
  return -1
end
if not string.find(',' .. from .. ',', ',' .. present .. ',', 1, true) then
  return 0
end
redis.call('HSET', replay, 'status', status)
if ARGV[FIRST_FIELD] then
  redis.call('HSET', replay, unpack(ARGV, FIRST_FIELD))
end
redis.call('HDEL', replay, 'waiting')
if stays_open ~= '1' then
  redis.call('SREM', open, id)
end
redis.call('ZADD', due, now, member)
return 1
