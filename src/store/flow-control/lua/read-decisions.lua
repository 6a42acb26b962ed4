-- Reads the decisions about events of one environment.
-- KEYS: prefix of the keys that events share (hash; the key ends with the beginning of an event's ID), prefix of the key that an
-- event has alone (string)
-- ARGV: for each event: its ID, its field in a hash
-- Returns for each event that has any: its position in the arguments (from 0), then its decisions; later ones take precedence.
local shared_prefix, own_prefix = unpack(KEYS)
local found = {}
-- Most hashes do not exist.
local present = {}

for i = 1, #ARGV, 2 do
  local id, field = ARGV[i], ARGV[i + 1]
  local parts = {}
  for _, length in ipairs(DECISION_PREFIX_LENGTHS) do
    local key = shared_prefix .. string.sub(id, 1, length)
    if present[key] == nil then
      present[key] = redis.call('EXISTS', key) == 1
    end
    parts[#parts + 1] = present[key] and redis.call('HGET', key, field) or nil
  end
  parts[#parts + 1] = redis.call('GET', own_prefix .. id) or nil
  local text = table.concat(parts)
  if text ~= '' then
    found[#found + 1] = (i - 1) / 2
    found[#found + 1] = text
  end
end
return found
