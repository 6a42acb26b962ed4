-- Makes a user.
-- KEYS[1] users (hash: ID -> JSON)  KEYS[2] emails (hash: address -> ID)
-- ARGV[1] ID  ARGV[2] email address  ARGV[3] user as JSON  ARGV[4] 1: only where there is no user yet
-- Returns 1 made, 0 not: the address is taken, or there is a user
if ARGV[4] == '1' and redis.call('HLEN', KEYS[1]) > 0 then return 0 end
if redis.call('HSETNX', KEYS[2], ARGV[2], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
