-- Size of an event's entry in a batch: its ID and a mark, '?' if an earlier try of its ingest job may have added it to another batch.
local ENTRY = 27
local FIELDS_AT_ONCE = 500

-- Parses an open batch: `<bytes>:<earliest start of its run (ms)>:<events>`.
local function read_batch(text)
  local bytes, due, entries = string.match(text, '^(%d+):(%d+):(.*)$')
  return { bytes = tonumber(bytes), due = tonumber(due), entries = entries }
end

local function write_batch(batch)
  return string.format('%.0f:%.0f:%s', batch.bytes, batch.due, batch.entries)
end

-- Closes a batch, as several if it exceeds the number of events now allowed. Format of a closed batch: `c<earliest start of its run
-- (ms)>:<events>`, prefixed with `d` once its run is created.
local function close_batch(closed, closed_times, closed_events, batch, max_events, now)
  local length = ENTRY * max_events
  for first = 1, #batch.entries, length do
    local entries = string.sub(batch.entries, first, first + length - 1)
    local id = string.sub(entries, 1, ENTRY - 1)
    redis.call('HSET', closed, id, string.format('c%.0f:%s', batch.due, entries))
    redis.call('ZADD', closed_times, now, id)
    local fields = {}
    for at = 1, #entries, ENTRY do
      fields[#fields + 1] = string.sub(entries, at, at + ENTRY - 2)
      fields[#fields + 1] = id
      if #fields >= FIELDS_AT_ONCE or at + ENTRY > #entries then
        redis.call('HSET', closed_events, unpack(fields))
        fields = {}
      end
    end
  end
end

-- Removes a closed batch with all its data.
local function forget_batch(closed, closed_times, closed_events, id, text)
  local entries = string.match(text, '^%a%d+:(.*)$')
  for at = 1, #entries, ENTRY do
    redis.call('HDEL', closed_events, string.sub(entries, at, at + ENTRY - 2))
  end
  redis.call('HDEL', closed, id)
  redis.call('ZREM', closed_times, id)
end
