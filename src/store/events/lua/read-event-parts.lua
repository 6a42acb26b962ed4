-- Reads the data of events of one environment that is not in their records.
-- KEYS: what precedes: the event ID in the key of its number of repeats (string), the slice in the key of events' runs (hash),
--       the event ID in the overflow key of an event's runs (string)
-- ARGV: event IDs
-- Returns for each event that has any: its position in the arguments (from 0), its number of repeats, the IDs of its runs in a row.
local duplicates_prefix, runs_prefix, overflow_runs_prefix = unpack(KEYS)
local found = {}
for i, id in ipairs(ARGV) do
  local duplicates = redis.call('GET', duplicates_prefix .. id) or '0'
  local runs = (redis.call('HGET', runs_prefix .. string.sub(id, 1, SLICE_LENGTH), string.sub(id, SLICE_LENGTH + 1)) or '')
    .. (redis.call('GET', overflow_runs_prefix .. id) or '')
  if duplicates ~= '0' or runs ~= '' then
    found[#found + 1] = i - 1
    found[#found + 1] = duplicates
    found[#found + 1] = runs
  end
end
return found
