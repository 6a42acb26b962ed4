-- Changes or removes a user, unless that would leave no admin who can sign in.
-- KEYS[1] users (hash: ID -> JSON)  KEYS[2] emails (hash: address -> ID)
-- ARGV[1] ID  ARGV[2] email address  ARGV[3] user as JSON; '' removes  ARGV[4] the user as it was read, as JSON
-- Returns 1 done, 0 the user is another by now, -1 no admin would be left.
local function rules(text)
  local user = cjson.decode(text)
  return user.role == 'admin' and user.password ~= nil
end

if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[4] then return 0 end
if rules(ARGV[4]) and (ARGV[3] == '' or not rules(ARGV[3])) then
  local admins = 0
  for _, text in ipairs(redis.call('HVALS', KEYS[1])) do
    if rules(text) then admins = admins + 1 end
  end
  if admins < 2 then return -1 end
end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], ARGV[2])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
return 1
