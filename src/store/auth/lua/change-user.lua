-- Changes or deletes a user, unless no admin who can sign in would remain. KEYS: users (hash: ID -> JSON), emails (hash: address -> ID)
-- ARGV: ID, email address, new user (JSON; '' deletes), user as it was read (JSON) Returns 1: done; 0: the user has changed since it was
-- read; -1: no admin would remain.
local users, emails = unpack(KEYS)
local id, email, new_user, old_user = unpack(ARGV)

local function is_active_admin(text)
  local user = cjson.decode(text)
  return user.role == 'admin' and user.password ~= nil
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
  redis.call('HDEL', emails, email)
else
  redis.call('HSET', users, id, new_user)
end
return 1
