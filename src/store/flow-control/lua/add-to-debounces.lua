-- @include flow-control/lua/lib/now.lua
-- @include flow-control/lua/lib/look.lua
-- @include flow-control/lua/lib/debounce.lua
-- Adds events to the debounces of a function. Of events with the same key value, the latest stays.
-- KEYS: open debounces (hash), times of their extensions (zset), of their first events (zset), fired debounces (hash), times to take them
-- (zset),
--       look (string)
-- ARGV: function ID, what precedes the digest in the key of the last debounce, period (ms), timeout (ms) or '', when the ingest job began
-- (ms), how
--       long after that an event is in doubt (ms); then of each event: value of the key, ID, ts, 1 if an earlier try stored it.
--       Positional: this runs for every event.
-- Returns the look to schedule, then for each event: {'waits'}; {'replaces', ID of the earlier event}; {'replaced', ID of the later
-- event}; or {'fired', ID}: the debounce has fired, with this event or a later one.
local open, times, starts, fired, fired_times, look = unpack(KEYS, 1, 6)
local function_id, last_prefix, period, timeout, began_at, doubt_after = unpack(ARGV, 1, 6)
local FIRST, LENGTH = 7, 4

local now = time_now()
local is_late = now - began_at > tonumber(doubt_after)

local function add(key, id, ts, is_stored)
  local text = redis.call('HGET', open, key)
  local debounce = text and read_debounce(text)
  local is_in_doubt = is_late or is_stored == '1'
  if (debounce and debounce.id == id) or (is_in_doubt and redis.call('HEXISTS', fired, id) == 1) then
    return { 'waits' }
  end
  local last = is_in_doubt and redis.call('GET', last_key(last_prefix, function_id, key))
  if last then
    local former = read_debounce(last)
    if not is_later(ts, id, former) then
      return { 'fired', former.id }
    end
  end
  if not debounce then
    redis.call('HSET', open, key, write_debounce({ ts = ts, id = id, replaced = '' }))
    redis.call('ZADD', times, now, key)
    redis.call('ZADD', starts, now, key)
    return { 'waits' }
  end
  local other = debounce.id
  local wins = is_later(ts, id, debounce)
  if wins then
    add_replaced(debounce, other)
    debounce.ts, debounce.id = ts, id
    redis.call('ZADD', times, now, key)
  else
    add_replaced(debounce, id)
  end
  redis.call('HSET', open, key, write_debounce(debounce))
  return { wins and 'replaces' or 'replaced', other }
end

local reply = { {} }
for at = FIRST, #ARGV, LENGTH do
  local key, id, ts, is_stored = unpack(ARGV, at, at + LENGTH - 1)
  reply[#reply + 1] = add(key, id, tonumber(ts), is_stored)
end
reply[1] = look_to_set(look, now, next_debounce(times, starts, fired_times, period, timeout))
return reply
