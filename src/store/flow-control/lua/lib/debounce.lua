-- Debounces: a group is its latest event. Its ID is the ID of that event; a later event restarts its period.
-- Format of a debounce, open or closed: `<ts of the latest event>:<its ID>:<replaced events>`, each of the latter followed by a comma.
local REPLACED_MAX = 50
local REPLACED = 27
-- How long a repeated ingest job finds out that the debounce of its event has fired.
local REMEMBERED_MS = 600000

local function read_debounce(text)
  local ts, id, replaced = string.match(text, '^(%d+):(%w+):(.*)$')
  return { at = tonumber(ts), id = id, replaced = replaced }
end

local function write_debounce(debounce, replaced)
  return string.format('%.0f:%s:%s', debounce.at, debounce.id, replaced)
end

-- Total order, so that repeating an ingest job changes nothing.
local function is_later(event, other)
  return event.at > other.at or (event.at == other.at and is_before(other.id, event.id))
end

local function with_replaced(replaced, id)
  return string.find(replaced, id, 1, true) and replaced or string.sub(replaced .. id .. ',', -REPLACED_MAX * REPLACED)
end

local function last_key(key)
  local function_id, prefix = unpack(ARGV, 4, 5)
  return prefix .. redis.sha1hex(#function_id .. ':' .. function_id .. key)
end

local function add_to_debounce(event)
  local key = event.key
  local text = redis.call('HGET', open, key)
  local debounce = text and read_debounce(text)
  if (debounce and debounce.id == event.id) or (event.is_in_doubt and redis.call('HEXISTS', closed, event.id) == 1) then
    return { 'waits' }
  end
  local last = event.is_in_doubt and redis.call('GET', last_key(key))
  local former = last and read_debounce(last)
  if former and not is_later(event, former) then
    return { 'fired', former.id }
  end
  if not debounce then
    redis.call('HSET', open, key, write_debounce(event, ''))
    redis.call('ZADD', times, now, key)
    redis.call('ZADD', starts, now, key)
    return { 'waits' }
  end
  if is_later(event, debounce) then
    redis.call('HSET', open, key, write_debounce(event, with_replaced(debounce.replaced, debounce.id)))
    redis.call('ZADD', times, now, key)
    return { 'replaces', debounce.id }
  end
  redis.call('HSET', open, key, write_debounce(debounce, with_replaced(debounce.replaced, event.id)))
  return { 'replaced', debounce.id }
end

KINDS.debounce = {}

-- Events: first is `ts`. Keeps the latest of the events with the same key value. Returns for each event: {'waits'}; {'replaces',
-- ID of the earlier event};
-- {'replaced', ID of the later event}; or {'fired', ID}: the debounce has fired, with this event or a later one.
function KINDS.debounce.add(events)
  local results = {}
  for i, event in ipairs(events) do
    event.at = tonumber(event.first)
    results[i] = add_to_debounce(event)
  end
  return results
end

function KINDS.debounce.close(key, text)
  local debounce = read_debounce(text)
  add_closed(debounce.id, text)
  local last = last_key(key)
  local former = redis.call('GET', last)
  if not former or is_later(debounce, read_debounce(former)) then
    former = write_debounce(debounce, '')
  end
  redis.call('SET', last, former, 'PX', REMEMBERED_MS)
  remove_open(key)
end

function KINDS.debounce.complete(id)
  remove_closed(id)
end

function KINDS.debounce.is_over()
  return false
end
