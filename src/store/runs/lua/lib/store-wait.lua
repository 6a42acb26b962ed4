-- A hash lives as long as its last wait. `left`: its TTL before the wait was added.
local function extend_ttl(key, left, ttl)
  if left < tonumber(ttl) then
    redis.call('PEXPIRE', key, ttl)
  end
end

local function may_count(paths, path, max_paths)
  return path ~= '' and (redis.call('HEXISTS', paths, path) == 1 or redis.call('HLEN', paths) < max_paths)
end

-- Stores a wait under the value of its required field, if it has one and the event name has few such fields; otherwise under the name.
-- Returns the hash that holds the wait, and its path there or ''.
local function store_wait(by_name, by_value, paths, wait_key, wait, path, ttl, max_paths)
  local stored_in = by_name
  if may_count(paths, path, max_paths) then
    stored_in = by_value
    local left = redis.call('PTTL', paths)
    redis.call('HINCRBY', paths, path, 1)
    extend_ttl(paths, left, ttl)
  else
    path = ''
  end
  local left = redis.call('PTTL', stored_in)
  redis.call('HSET', stored_in, wait_key, wait)
  extend_ttl(stored_in, left, ttl)
  return stored_in, path
end
