-- Creates a user.
-- KEYS: users (hash: ID -> JSON), emails (hash: address -> ID)
-- ARGV: ID, email address, user (JSON), 1: only if there is no user yet
-- Returns 1: created; 0: the address is taken, or a user exists.
local users, emails = unpack(KEYS)
local id, email, user, only_first = unpack(ARGV)
if only_first == '1' and redis.call('HLEN', users) > 0 then
  return 0
end
if redis.call('HSETNX', emails, email, id) == 0 then
  return 0
end
redis.call('HSET', users, id, user)
return 1
