-- Makes an environment, unless there is one of its name or there are too many branches.
-- KEYS[1] environments (hash)
-- ARGV[1] name  ARGV[2] the environment, as JSON  ARGV[3] branches that there may be, or '' where it is none
-- Returns {1} made, {0} there is one, {-1, count} there are so many branches already.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return {0}
end
if ARGV[3] ~= '' then
  local branches = 0
  for _, text in ipairs(redis.call('HVALS', KEYS[1])) do
    if cjson.decode(text).kind == 'branch' then
      branches = branches + 1
    end
  end
  if branches >= tonumber(ARGV[3]) then
    return {-1, branches}
  end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return {1}
