-- @include runs/lua/lib/packed-run.lua
-- Reads a run with its steps, packed or not, in one state.
-- KEYS: run (hash)
-- ARGV: contents of an offloaded run (lib/run-contents.lua), to read instead, or ''
-- Returns {fields, stack, memos, pending steps, history}, hashes as lists of name and value; {} if it is not stored.
local run, contents = KEYS[1], ARGV[1]
local COPY_MS = 60000
local copied = {}
if contents ~= '' then
  -- packed_runs reads only keys, so the contents become keys while this script runs. No other client sees them.
  run = run .. ':copy'
  local parts = cmsgpack.unpack(contents)
  for i = 1, #parts, 3 do
    local key, kind, values = run .. parts[i], parts[i + 1], parts[i + 2]
    if kind == 'list' then
      for _, value in ipairs(values) do
        redis.call('RPUSH', key, value)
      end
    else
      for n = 1, #values, 2 do
        redis.call('HSET', key, values[n], values[n + 1])
      end
    end
    redis.call('PEXPIRE', key, COPY_MS)
    copied[#copied + 1] = key
  end
end

local function read()
  local fields = redis.call('HGETALL', run)
  if #fields == 0 then
    return {}
  end
  local appended = redis.call('LRANGE', run .. SUFFIX_HISTORY, 0, -1)
  local packed = redis.call('HEXISTS', run, FIELD_PACKED) == 1 and packed_runs().read(run)
  if not packed then
    return {
      fields, redis.call('LRANGE', run .. SUFFIX_STACK, 0, -1), redis.call('HGETALL', run .. SUFFIX_MEMOS),
      redis.call('HGETALL', run .. SUFFIX_PENDING), appended,
    }
  end
  local history = packed[SUFFIX_HISTORY]
  for _, entry in ipairs(appended) do
    history[#history + 1] = entry
  end
  return { fields, packed[SUFFIX_STACK], packed[SUFFIX_MEMOS], packed[SUFFIX_PENDING], history }
end

local found = read()
for _, key in ipairs(copied) do
  redis.call('DEL', key)
end
return found
