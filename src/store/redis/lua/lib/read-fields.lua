-- The fields of a hash, by name.
local function read_fields(key)
  local flat, fields = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do
    fields[flat[i]] = flat[i + 1]
  end
  return fields
end
