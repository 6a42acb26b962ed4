-- Stores the plan of a bulk operation's next portion before it is carried out.
-- KEYS: operation (hash)
-- ARGV: number of the portion, plan (JSON)
-- Returns 1: stored; 0: another worker has taken over, or the operation no longer runs.
local number, status, planned = unpack(redis.call('HMGET', KEYS[1], 'portion', 'status', 'planned'))
if number ~= ARGV[1] or status ~= 'running' or planned then
  return 0
end
redis.call('HSET', KEYS[1], 'planned', ARGV[2])
redis.call('HDEL', KEYS[1], 'waiting')
return 1
