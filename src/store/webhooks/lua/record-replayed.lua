-- Records the result of one request of a replay and moves its position on, unless another process has.
-- KEYS: replay (hash), results of this status (list)
-- ARGV: expected position, new position (ID of the request), ID from which the ID of the next event derives, status (done, failed, skipped),
--       result (JSON), maximum number of results, TTL (ms)
-- Returns the state of the replay; false: another process has moved it on, or it is gone.
local replay, results = unpack(KEYS)
local expected, position, parent, status, result, max, ttl = unpack(ARGV)

if redis.call('HGET', replay, 'position') ~= expected then
  return false
end
redis.call('HSET', replay, 'position', position, 'parent', parent, 'waiting', '')
redis.call('HINCRBY', replay, status, 1)
redis.call('RPUSH', results, result)
redis.call('LTRIM', results, -max, -1)
redis.call('PEXPIRE', replay, ttl)
redis.call('PEXPIRE', results, ttl)
return redis.call('HGET', replay, 'state')
