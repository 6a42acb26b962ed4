-- Changes the metadata of one kind for one target of a run.
-- KEYS: run (hash)
-- ARGV: field of the kind, "set" or "merge", now (ms), maximum bytes, maximum number of fields, then names of values and their JSON
-- Returns "stored"; "full": the run would have too much metadata, and nothing changed; "gone": there is no such run.
local run = KEYS[1]
local kind, op, now, max_bytes, max_fields = unpack(ARGV, 1, 5)
local FIRST_VALUE = 6
local metadata = run .. SUFFIX_METADATA
if redis.call('EXISTS', run) == 0 then
  return 'gone'
end

local fields, bytes = {}, 0
local stored = redis.call('HGETALL', metadata)
for i = 1, #stored, 2 do
  local is_of_kind = string.sub(stored[i], 1, #kind + 1) == kind .. '\n'
  if not (op == 'set' and is_of_kind) then
    fields[stored[i]] = #stored[i] + #stored[i + 1]
  end
end
fields[kind] = #kind + #now
for i = FIRST_VALUE, #ARGV, 2 do
  local field = kind .. '\n' .. ARGV[i]
  fields[field] = #field + #ARGV[i + 1]
end
local count = 0
for _, size in pairs(fields) do
  count, bytes = count + 1, bytes + size
end
if count > tonumber(max_fields) or bytes > tonumber(max_bytes) then
  return 'full'
end

for i = 1, #stored, 2 do
  if not fields[stored[i]] then
    redis.call('HDEL', metadata, stored[i])
  end
end
redis.call('HSET', metadata, kind, now)
for i = FIRST_VALUE, #ARGV, 2 do
  redis.call('HSET', metadata, kind .. '\n' .. ARGV[i], ARGV[i + 1])
end
-- The metadata of an ended run expires with the run.
local left = redis.call('PTTL', run)
if left > 0 then
  redis.call('PEXPIRE', metadata, left)
end
return 'stored'
