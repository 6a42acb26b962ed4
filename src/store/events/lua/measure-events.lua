-- Measures the texts of events of one environment.
-- KEYS: what precedes the slice in the key of a bucket (hash), what precedes the event ID in an overflow key (string)
-- ARGV: event IDs
-- Returns the bytes of each.
local bucket_prefix, overflow_prefix = unpack(KEYS)
local sizes = {}
for i, id in ipairs(ARGV) do
  local size = redis.call('HSTRLEN', bucket_prefix .. string.sub(id, 1, SLICE_LENGTH), string.sub(id, SLICE_LENGTH + 1))
  sizes[i] = size > 0 and size or redis.call('STRLEN', overflow_prefix .. id)
end
return sizes
