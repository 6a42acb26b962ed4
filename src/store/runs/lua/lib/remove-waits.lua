-- Removes one wait of a run. `waits`: hash of the run's waits with their locations (wait-location.ts). A wait stored in another partition
-- is only unregistered here. Returns the location of a wait in another partition.
local function remove_wait(waits, wait_key)
  local location = redis.call('HGET', waits, wait_key)
  if not location then
    return nil
  end
  redis.call('HDEL', waits, wait_key)
  local stored_in, paths, path = unpack(cjson.decode(location))
  if not stored_in then
    return location
  end
  redis.call('HDEL', stored_in, wait_key)
  if path ~= '' and redis.call('HINCRBY', paths, path, -1) <= 0 then
    redis.call('HDEL', paths, path)
  end
  return nil
end

-- Removes all waits of a run. Returns key, location, key, location, … of waits in other partitions.
local function remove_waits(run)
  local waits = run .. SUFFIX_WAITS
  local elsewhere = {}
  for _, wait_key in ipairs(redis.call('HKEYS', waits)) do
    local location = remove_wait(waits, wait_key)
    if location then
      elsewhere[#elsewhere + 1] = wait_key
      elsewhere[#elsewhere + 1] = location
    end
  end
  return elsewhere
end
