-- Removes archived events of one environment: their records, and, unless they are in use, their copies and lists of runs.
-- KEYS: events in use (zset), then what precedes: the slice in the key of a bucket (hash), the event ID in an overflow key (string), the
-- slice in the key
--       of events' runs (hash), the event ID in the overflow key of an event's runs (string)
-- ARGV: what precedes the event ID in the events in use, then the IDs
-- Returns nothing.
local in_use, bucket_prefix, overflow_prefix, runs_prefix, overflow_runs_prefix = unpack(KEYS)
local member_prefix = ARGV[1]
for i = 2, #ARGV do
  local id = ARGV[i]
  local slice, field = string.sub(id, 1, SLICE_LENGTH), string.sub(id, SLICE_LENGTH + 1)
  if not redis.call('ZSCORE', in_use, member_prefix .. id) then
    redis.call('DEL', overflow_prefix .. id, overflow_runs_prefix .. id)
    redis.call('HDEL', runs_prefix .. slice, field)
  end
  redis.call('HDEL', bucket_prefix .. slice, field)
end
