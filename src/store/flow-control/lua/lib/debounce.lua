-- Format of a debounce: `<ts of the latest event>:<its ID>:<replaced events>`, each of the latter followed by a comma.
local REPLACED_MAX = 50
local REPLACED = 27

local function read_debounce(text)
  local ts, id, replaced = string.match(text, '^(%d+):(%w+):(.*)$')
  return { ts = tonumber(ts), id = id, replaced = replaced }
end

local function write_debounce(debounce)
  return string.format('%.0f:%s:%s', debounce.ts, debounce.id, debounce.replaced)
end

-- Whether an event is later than the debounce's. Total order, so that repeating an ingest job changes nothing.
local function is_later(ts, id, debounce)
  return ts > debounce.ts or (ts == debounce.ts and id > debounce.id)
end

local function add_replaced(debounce, id)
  if not string.find(debounce.replaced, id, 1, true) then
    debounce.replaced = string.sub(debounce.replaced .. id .. ',', -REPLACED_MAX * REPLACED)
  end
end

local function last_key(prefix, function_id, key)
  return prefix .. redis.sha1hex(#function_id .. ':' .. function_id .. key)
end

-- The earliest time at which a debounce is due or a fired one may be taken; nil if there is none.
local function next_debounce(times, starts, fired_times, period, timeout)
  local due = earliest(first_after(times, period), first_after(fired_times, 0))
  return timeout == '' and due or earliest(due, first_after(starts, timeout))
end
