-- Batches: a group is also closed when it is full. Its ID is the ID of its first event.
-- Size of an event's entry in a batch: its ID and a mark, '?' if an earlier try of its ingest job may have added it to another batch.
local ENTRY = 27
local FIELDS_AT_ONCE = 500
-- How long a batch is remembered after its run was created: longer than events are added without doubt.
local LINGER_MS = 2000

-- Parses an open batch: `<bytes>:<earliest start of its run (ms)>:<events>`.
local function read_batch(text)
  local bytes, due, entries = string.match(text, '^(%d+):(%d+):(.*)$')
  return { bytes = tonumber(bytes), due = tonumber(due), entries = entries }
end

local function write_batch(batch)
  return string.format('%.0f:%.0f:%s', batch.bytes, batch.due, batch.entries)
end

-- Closes a batch, as several if it exceeds the number of events now allowed. Format of a closed batch: `c<earliest start of its run
-- (ms)>:<events>`; `d` replaces `c` once its run is created.
local function close_batch(batch)
  local length = ENTRY * tonumber(ARGV[4])
  for first = 1, #batch.entries, length do
    local entries = string.sub(batch.entries, first, first + length - 1)
    local id = string.sub(entries, 1, ENTRY - 1)
    add_closed(id, string.format('c%.0f:%s', batch.due, entries))
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

KINDS.batch = {}

-- Events: first is the earliest start of its run (ms), second the size of its payload.
-- Adds each event to the open batch of its key, once. Returns the IDs of the batches.
function KINDS.batch.add(events)
  local full_length, full_bytes = ENTRY * tonumber(ARGV[4]), tonumber(ARGV[5])
  local ids, results, is_read, batches, is_changed = {}, {}, {}, {}, {}
  for i, event in ipairs(events) do
    ids[i] = event.id
  end
  local batch_of = redis.call('HMGET', closed_events, unpack(ids))

  local function close(key)
    close_batch(batches[key])
    remove_open(key)
    batches[key], is_changed[key] = nil, nil
  end

  local function add(event)
    local key, bytes = event.key, tonumber(event.second)
    if not is_read[key] then
      local text = redis.call('HGET', open, key)
      batches[key] = text and read_batch(text) or nil
      is_read[key] = true
    end
    local batch = batches[key]
    if batch and string.find(batch.entries, event.id, 1, true) then
      return string.sub(batch.entries, 1, ENTRY - 1)
    end
    if batch and (#batch.entries >= full_length or batch.bytes + bytes > full_bytes) then
      close(key)
      batch = nil
    end
    if not batch then
      batch = { bytes = 0, due = 0, entries = '' }
      batches[key] = batch
      redis.call('ZADD', times, now, key)
    end
    batch.bytes = batch.bytes + bytes
    batch.due = math.max(batch.due, tonumber(event.first))
    batch.entries = batch.entries .. event.id .. (event.is_in_doubt and '?' or '+')
    is_changed[key] = true
    if #batch.entries >= full_length or batch.bytes >= full_bytes then
      close(key)
    end
    return string.sub(batch.entries, 1, ENTRY - 1)
  end

  for i, event in ipairs(events) do
    results[i] = batch_of[i] or add(event)
  end
  for key in pairs(is_changed) do
    redis.call('HSET', open, key, write_batch(batches[key]))
  end
  return results
end

function KINDS.batch.close(key, text)
  close_batch(read_batch(text))
  remove_open(key)
end

-- A completed batch is removed later, when no ingest job can add its events again without doubt.
function KINDS.batch.complete(id)
  local text = redis.call('HGET', closed, id)
  if text and string.sub(text, 1, 1) == 'c' then
    redis.call('HSET', closed, id, 'd' .. string.sub(text, 2))
    redis.call('ZADD', closed_times, now + LINGER_MS, id)
  end
end

-- Whether the batch was completed: it is removed, with the references of its events.
function KINDS.batch.is_over(text)
  local state, entries = string.match(text, '^(%a)%d+:(.*)$')
  if state ~= 'd' then
    return false
  end
  for at = 1, #entries, ENTRY do
    redis.call('HDEL', closed_events, string.sub(entries, at, at + ENTRY - 2))
  end
  return true
end
