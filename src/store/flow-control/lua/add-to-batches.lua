-- @include flow-control/lua/lib/now.lua
-- @include flow-control/lua/lib/look.lua
-- @include flow-control/lua/lib/batch.lua
-- Adds events to the open batches of a function, each once, and closes full batches.
-- KEYS: open batches (hash), times of their first events (zset), closed batches (hash), times to take them (zset), their events (hash),
--       look (string)
-- ARGV: most events of a batch, most bytes, timeout (ms), when the ingest job began (ms), how long after that an event is in doubt (ms);
-- then of
--       each event: value of the key, ID, bytes, earliest start of its run (ms), 1 if an earlier try stored it.
--       Positional: this runs for every event.
-- Returns the look to schedule, then for each event the ID of its batch, which is the ID of the first event.
local open, times, closed, closed_times, closed_events, look = unpack(KEYS, 1, 6)
local max_events, max_bytes, timeout, began_at, doubt_after = unpack(ARGV, 1, 5)
local FIRST, LENGTH = 6, 5
max_events, max_bytes = tonumber(max_events), tonumber(max_bytes)

local now = time_now()
local is_late = now - began_at > tonumber(doubt_after)
local ids, is_read, batches, is_changed = {}, {}, {}, {}
for at = FIRST, #ARGV, LENGTH do
  ids[#ids + 1] = ARGV[at + 1]
end
local batch_of = redis.call('HMGET', closed_events, unpack(ids))

local function close(key)
  close_batch(closed, closed_times, closed_events, batches[key], max_events, now)
  redis.call('HDEL', open, key)
  redis.call('ZREM', times, key)
  batches[key], is_changed[key] = nil, nil
end

local reply = { {} }
for i, id in ipairs(ids) do
  local at = FIRST + (i - 1) * LENGTH
  local key, _, bytes, due, is_stored = unpack(ARGV, at, at + LENGTH - 1)
  bytes, due = tonumber(bytes), tonumber(due)
  if not is_read[key] then
    local text = redis.call('HGET', open, key)
    batches[key] = text and read_batch(text) or nil
    is_read[key] = true
  end
  local batch = batches[key]
  if batch_of[i] then
    reply[i + 1] = batch_of[i]
  elseif batch and string.find(batch.entries, id, 1, true) then
    reply[i + 1] = string.sub(batch.entries, 1, ENTRY - 1)
  else
    if batch and (#batch.entries >= ENTRY * max_events or batch.bytes + bytes > max_bytes) then
      close(key)
      batch = nil
    end
    if not batch then
      batch = { bytes = 0, due = 0, entries = '' }
      batches[key] = batch
      redis.call('ZADD', times, now, key)
    end
    batch.bytes = batch.bytes + bytes
    batch.due = math.max(batch.due, due)
    batch.entries = batch.entries .. id .. ((is_late or is_stored == '1') and '?' or '+')
    is_changed[key] = true
    reply[i + 1] = string.sub(batch.entries, 1, ENTRY - 1)
    if #batch.entries >= ENTRY * max_events or batch.bytes >= max_bytes then
      close(key)
    end
  end
end
for key in pairs(is_changed) do
  redis.call('HSET', open, key, write_batch(batches[key]))
end
reply[1] = look_to_set(look, now, earliest(first_after(times, timeout), first_after(closed_times, 0)))
return reply
