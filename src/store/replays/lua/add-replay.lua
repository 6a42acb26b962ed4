-- Adds a replay, unless too many of the environment are open.
-- KEYS: replay (hash), replays of the environment (zset), open replays of the environment (set), due replays (zset)
-- ARGV: ID, its member in the due replays, now (ms), TTL (ms), open replays allowed, then fields and values of the replay
-- Returns 1: added; 0: too many are open.
local replay, replays, open, due = unpack(KEYS)
local id, member, now, ttl, most = unpack(ARGV, 1, 5)
local FIRST_FIELD = 6

if redis.call('SCARD', open) >= tonumber(most) then
  return 0
end
redis.call('HSET', replay, unpack(ARGV, FIRST_FIELD))
redis.call('ZADD', replays, now, id)
redis.call('SADD', open, id)
for _, key in ipairs(KEYS) do
  if key ~= due then
    redis.call('PEXPIRE', key, ttl)
  end
end
redis.call('ZADD', due, now, member)
return 1
