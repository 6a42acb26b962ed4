-- Creates a user.
-- KEYS: users (hash: ID -> JSON), names (hash: email address or identity -> ID)
-- ARGV: ID, user (JSON), 1: only if there is no user yet, names of the user
-- Returns 1: created; 0: a name is taken, or a user exists.
local users, names = unpack(KEYS)
local id, user, only_first = unpack(ARGV)
if only_first == '1' and redis.call('HLEN', users) > 0 then
  return 0
end
for at = 4, #ARGV do
  if redis.call('HEXISTS', names, ARGV[at]) == 1 then
    return 0
  end
end
for at = 4, #ARGV do
  redis.call('HSET', names, ARGV[at], id)
end
redis.call('HSET', users, id, user)
return 1
