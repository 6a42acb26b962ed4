-- How a wait of a run is removed: `waits`, the hash of the run's waits, says where each is (add-waits.lua).
local function remove_wait(waits, key)
  local place = redis.call('HGET', waits, key)
  if not place then
    return false
  end
  local bucket, paths, path = unpack(cjson.decode(place))
  redis.call('HDEL', bucket, key)
  if path ~= '' and redis.call('HINCRBY', paths, path, -1) <= 0 then
    redis.call('HDEL', paths, path)
  end
  redis.call('HDEL', waits, key)
  return true
end

local function remove_waits(run)
  local waits = run .. ':waits'
  for _, key in ipairs(redis.call('HKEYS', waits)) do
    remove_wait(waits, key)
  end
end

