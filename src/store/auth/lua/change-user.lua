#!lua flags=allow-oom
-- Changes or deletes a user, unless no admin who can sign in would remain. Runs even when Redis is out of memory, because a
-- second factor that was used is part of the user.
-- KEYS: users (hash: ID -> JSON), names (hash: email address or identity -> ID)
-- ARGV: ID, new user (JSON; '' deletes), user as it was read (JSON), names of the user
-- Returns 1: done; 0: the user has changed since it was read; -1: no admin would remain.
local users, names = unpack(KEYS)
local id, new_user, old_user = unpack(ARGV)

local function is_active_admin(text)
  local user = cjson.decode(text)
  return user.role == 'admin' and (user.password ~= nil or user.identities ~= nil)
end

if redis.call('HGET', users, id) ~= old_user then
  return 0
end
if is_active_admin(old_user) and (new_user == '' or not is_active_admin(new_user)) then
  local admins = 0
  for _, text in ipairs(redis.call('HVALS', users)) do
    if is_active_admin(text) then
      admins = admins + 1
    end
  end
  if admins < 2 then
    return -1
  end
end
if new_user == '' then
  redis.call('HDEL', users, id)
  for at = 4, #ARGV do
    redis.call('HDEL', names, ARGV[at])
  end
else
  redis.call('HSET', users, id, new_user)
  for at = 4, #ARGV do
    redis.call('HSET', names, ARGV[at], id)
  end
end
return 1
