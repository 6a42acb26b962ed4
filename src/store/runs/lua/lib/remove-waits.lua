-- Removes one wait of a run. `waits`: the hash of the run's waits, which says where each is stored (add-waits.lua).
local function remove_wait(waits, wait_key)
  local location = redis.call('HGET', waits, wait_key)
  if not location then
    return
  end
  local stored_in, paths, path = unpack(cjson.decode(location))
  redis.call('HDEL', stored_in, wait_key)
  if path ~= '' and redis.call('HINCRBY', paths, path, -1) <= 0 then
    redis.call('HDEL', paths, path)
  end
  redis.call('HDEL', waits, wait_key)
end

-- Removes all waits of a run.
local function remove_waits(run)
  local waits = run .. SUFFIX_WAITS
  for _, wait_key in ipairs(redis.call('HKEYS', waits)) do
    remove_wait(waits, wait_key)
  end
end
