-- Creates an environment, unless the name is taken or there are too many branches.
-- KEYS: environments (hash)
-- ARGV: name, environment (JSON), maximum number of branches ('': not a branch)
-- Returns {1}: created; {0}: the name is taken; {-1, count}: that many branches already exist.
local environments = KEYS[1]
local name, environment, max_branches = unpack(ARGV)
if redis.call('HEXISTS', environments, name) == 1 then
  return {0}
end
if max_branches ~= '' then
  local branches = 0
  for _, text in ipairs(redis.call('HVALS', environments)) do
    if cjson.decode(text).kind == 'branch' then
      branches = branches + 1
    end
  end
  if branches >= tonumber(max_branches) then
    return {-1, branches}
  end
end
redis.call('HSET', environments, name, environment)
return {1}
