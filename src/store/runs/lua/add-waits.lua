-- @include runs/lua/lib/is-active.lua
-- Stores waits of one environment while their runs are active. end-run.lua removes them with their run.
-- KEYS: for each wait: its run (hash), waits of its event name (hash), waits of its name and value (hash), paths of its name (hash)
-- ARGV: maximum number of paths of an event name,
--       then for each wait: its key, the wait (JSON), path of the field that must have one value (JSON) or '', TTL (ms)
-- Returns for each wait 1: stored, now or before; 0: its run has ended.
local KEYS_PER_WAIT, ARGS_PER_WAIT = 4, 4
local max_paths = tonumber(ARGV[1])

-- A hash lives as long as its last wait. `left`: its TTL before the wait was added.
local function extend_ttl(key, left, ttl)
  if left < tonumber(ttl) then
    redis.call('PEXPIRE', key, ttl)
  end
end

local function may_count(paths, path)
  return path ~= '' and (redis.call('HEXISTS', paths, path) == 1 or redis.call('HLEN', paths) < max_paths)
end

local stored = {}
for i = 1, #KEYS / KEYS_PER_WAIT do
  local run, by_name, by_value, paths = unpack(KEYS, KEYS_PER_WAIT * (i - 1) + 1, KEYS_PER_WAIT * i)
  local wait_key, wait, path, ttl = unpack(ARGV, ARGS_PER_WAIT * (i - 1) + 2, ARGS_PER_WAIT * i + 1)
  local waits = run .. SUFFIX_WAITS
  stored[i] = 0
  if is_active(redis.call('HGET', run, FIELD_STATUS)) then
    stored[i] = 1
    if redis.call('HEXISTS', waits, wait_key) == 0 then
      local stored_in = by_name
      if may_count(paths, path) then
        stored_in = by_value
        local left = redis.call('PTTL', paths)
        redis.call('HINCRBY', paths, path, 1)
        extend_ttl(paths, left, ttl)
      else
        path = ''
      end
      redis.call('HSET', waits, wait_key, cjson.encode({ stored_in, paths, path }))
      local left = redis.call('PTTL', stored_in)
      redis.call('HSET', stored_in, wait_key, wait)
      extend_ttl(stored_in, left, ttl)
    end
  end
end
return stored
