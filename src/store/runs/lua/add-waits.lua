-- Stores waits of one environment, each as long as its run is active: whatever ends a run removes its waits with it (end-run.lua).
-- KEYS: for each wait its run (hash: run-fields.ts), the waits of its name (hash), the waits of its name and value (hash), the paths of its
-- name (hash)
-- ARGV[1] most paths of a name
-- ARGV[2…] for each wait: its key, the wait as JSON, the path of a field that must have one value or '', how long its place is kept (ms)
-- Returns for each wait 1, or 0 when its run has ended.

-- A place is kept as long as its last wait.
local function keep(place, was, ms)
  if was < tonumber(ms) then
    redis.call('PEXPIRE', place, ms)
  end
end

local stored = {}
for i = 1, #KEYS / 4 do
  local run, general, by_value, paths = unpack(KEYS, 4 * i - 3, 4 * i)
  local key, wait, path, ms = unpack(ARGV, 4 * i - 2, 4 * i + 1)
  local waits = run .. ':waits'
  local status = redis.call('HGET', run, 's')
  stored[i] = 0
  if status == 'Queued' or status == 'Running' then
    stored[i] = 1
    if redis.call('HEXISTS', waits, key) == 0 then
      local bucket = general
      if path ~= '' and (redis.call('HEXISTS', paths, path) == 1 or redis.call('HLEN', paths) < tonumber(ARGV[1])) then
        bucket = by_value
        local was = redis.call('PTTL', paths)
        redis.call('HINCRBY', paths, path, 1)
        keep(paths, was, ms)
      else
        path = ''
      end
      redis.call('HSET', waits, key, cjson.encode({ bucket, paths, path }))
      local was = redis.call('PTTL', bucket)
      redis.call('HSET', bucket, key, wait)
      keep(bucket, was, ms)
    end
  end
end
return stored
