#!lua flags=allow-oom
-- Marks a connection as ended: it accepts no more calls, and its gateway learns of it at the next renewal.
-- KEYS: connection (hash)
-- ARGV: connection ID, then the ready connections (zset) of each app
-- Returns 1: ended; 0: there is no such connection.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'ended', '1')
-- Hides it from lists.
redis.call('HDEL', KEYS[1], 'json')
for i = 2, #ARGV do
  redis.call('ZREM', ARGV[i], ARGV[1])
end
return 1
