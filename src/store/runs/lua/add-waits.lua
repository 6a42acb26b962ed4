-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/store-wait.lua
-- Stores waits of one environment while their runs are active, if waits and runs are in one partition. end-run.lua removes them with
-- their run.
-- KEYS: for each wait: its run (hash), waits of its event name (hash), waits of its name and value (hash), paths of its name (hash)
-- ARGV: maximum number of paths of an event name,
--       then for each wait: its key, the wait (JSON), path of the required field (JSON) or '', TTL (ms)
-- Returns for each wait 1: stored, now or before; 0: its run has ended.
local KEYS_PER_WAIT, ARGS_PER_WAIT = 4, 4
local max_paths = tonumber(ARGV[1])

local stored = {}
for i = 1, #KEYS / KEYS_PER_WAIT do
  local run, by_name, by_value, paths = unpack(KEYS, KEYS_PER_WAIT * (i - 1) + 1, KEYS_PER_WAIT * i)
  local wait_key, wait, path, ttl = unpack(ARGV, ARGS_PER_WAIT * (i - 1) + 2, ARGS_PER_WAIT * i + 1)
  local waits = run .. SUFFIX_WAITS
  stored[i] = 0
  if is_active(redis.call('HGET', run, FIELD_STATUS)) then
    stored[i] = 1
    if redis.call('HEXISTS', waits, wait_key) == 0 then
      local stored_in, stored_path = store_wait(by_name, by_value, paths, wait_key, wait, path, ttl, max_paths)
      redis.call('HSET', waits, wait_key, cjson.encode({ stored_in, paths, stored_path }))
    end
  end
end
return stored
