-- Lanes: the events of a group run one after another, so its events are closed one at a time, each when the run before it has ended.
-- A lane's events are in keys of its own; its state, in `open`, exists unless the lane is idle. Fields of texts are separated by SEPARATOR.
-- Arguments: period is how long the first event waits for those before it (ms); then as JSON the functions that take part, by ID, 1 if it
-- skips stale events, else 0; and the order's ID and the beginnings of the lane's keys.
-- Lanes whose next event is due are in `times`: the score of a lane without a run is when its first event came, so it is due one period
-- later. Lanes that are only checked are in `starts`, by when, so that they delay no other.
local SEPARATOR = '\31'
local WAITING, RUNNING, BLOCKED, PARKED = 'w', 'r', 'b', 'p'
-- Time after which a run is checked, in case its end was lost. Each further time is twice as long.
local CHECK_MS, CHECK_MAX_MS = 60000, 3600000
-- Delay of the first repeat of a failed run; each further one is twice as long.
local REPEAT_MS, REPEAT_MAX_MS = 60000, 3600000
-- How long the last event of a lane is remembered.
local REMEMBERED_LANE_MS = 604800000
-- Maximum number of events that leave a lane together.
local LEAVE_AT_ONCE = 20

-- Prefix of the field that counts an order's stopped lanes; the field that counts its waiting events has no prefix.
local STOPPED = SEPARATOR

local lane = {}

local function fields_of(text)
  local fields = {}
  for field in string.gmatch(text .. SEPARATOR, '([^' .. SEPARATOR .. ']*)' .. SEPARATOR) do
    fields[#fields + 1] = field
  end
  return fields
end

if kind_name == 'lane' then
  lane.functions = cjson.decode(ARGV[4])
  lane.order, lane.events_key, lane.receipts_key, lane.last_key, lane.counts_key, lane.stopped_key = unpack(cjson.decode(ARGV[5]))
end

-- A waiting event, as `<order text> <ID><'+', or '?' if it has no order of its own> <function ID>`.
local function read_waiting(member)
  local order, id, mark, fn = string.match(member, '^(%S*) (%w+)([+?]) (.*)$')
  return { order = order, id = id, has_order = mark == '+', fn = fn, member = member }
end

local LANE = (string.gsub('^(%a)|(%d+)|(%d+)|(%w*)|([^|]*)|(.*)$', '|', SEPARATOR))

local function read_lane(text)
  local state, since, number, id, fn, key = string.match(text, LANE)
  return { state = state, since = tonumber(since), number = tonumber(number), id = id, fn = fn, key = key }
end

-- `own.number`: number of the event's run in this lane, from 0. `due`: time at which the lane is checked (ms).
local function write_lane(digest, own, due)
  local fields = { own.state, string.format('%.0f', own.since), string.format('%.0f', own.number), own.id, own.fn, own.key }
  redis.call('HSET', open, digest, table.concat(fields, SEPARATOR))
  if own.state == RUNNING or own.state == PARKED then
    redis.call('ZADD', starts, string.format('%.0f', due), digest)
    redis.call('ZREM', times, digest)
  else
    redis.call('ZADD', times, string.format('%.0f', due - period), digest)
    redis.call('ZREM', starts, digest)
  end
end

local function count(field, by)
  if redis.call('HINCRBY', lane.counts_key, field, by) <= 0 then
    redis.call('HDEL', lane.counts_key, field)
  end
end

local function is_stopped(own)
  return own.state == BLOCKED or own.state == PARKED
end

local function record_stopped(digest, own)
  redis.call('ZADD', lane.stopped_key, own.since, digest)
  count(STOPPED .. lane.order, 1)
end

local function forget_stopped(digest)
  redis.call('ZREM', lane.stopped_key, digest)
  count(STOPPED .. lane.order, -1)
end

-- Returns the order text, ID and function of the last event that began and has an order; or nil.
local function last_of(digest)
  local text = redis.call('GET', lane.last_key .. digest)
  if text then
    return string.match(text, '^(%S*) (%w+) (.*)$')
  end
end

-- Returns the text of a superseded event: the event that ran before it, and its function; nil: it is not stale, or runs all the same.
local function superseded_by(digest, event)
  if not event.has_order or lane.functions[event.fn] ~= 1 then
    return nil
  end
  local order, id, fn = last_of(digest)
  return order and is_before(event.order, order) and table.concat({ 'x', id, fn }, SEPARATOR) or nil
end

local function begin(digest, event, key)
  write_lane(digest, { state = RUNNING, since = now, number = 0, id = event.id, fn = event.fn, key = key }, now + CHECK_MS)
  if event.has_order then
    local order = last_of(digest)
    if not order or not is_before(event.order, order) then
      redis.call('SET', lane.last_key .. digest, table.concat({ event.order, event.id, event.fn }, ' '), 'PX', REMEMBERED_LANE_MS)
    end
  end
end

local function closed_id(event, number)
  return string.format('%s %.0f %s', event.id, number, event.fn)
end

local function start_text(digest, number)
  return table.concat({ 's', digest, string.format('%.0f', number) }, SEPARATOR)
end

local function forget(digest, event)
  redis.call('ZREM', lane.events_key .. digest, event.member)
  redis.call('ZREM', lane.receipts_key .. digest, event.id .. ' ' .. event.fn)
  count(lane.order, -1)
end

local function first_receipt(digest)
  return tonumber(redis.call('ZRANGE', lane.receipts_key .. digest, 0, 0, 'WITHSCORES')[2])
end

-- The lane has no run: its next event is due when the first one has waited for the period.
local function go_on(digest, own)
  if is_stopped(own) then
    forget_stopped(digest)
  end
  local received = first_receipt(digest)
  if received then
    write_lane(digest, { state = WAITING, since = now, number = 0, id = '', fn = '', key = own.key }, received + period)
  else
    remove_open(digest)
  end
end

-- Closes the events of a lane up to the next one that runs in it. Events of functions that do not take part run without it.
local function advance(digest, own)
  for _ = 1, LEAVE_AT_ONCE do
    local member = redis.call('ZRANGE', lane.events_key .. digest, 0, 0)[1]
    if not member then
      return go_on(digest, own)
    end
    local event = read_waiting(member)
    forget(digest, event)
    local superseded = superseded_by(digest, event)
    if lane.functions[event.fn] and not superseded then
      begin(digest, event, own.key)
      return add_closed(closed_id(event, 0), start_text(digest, 0))
    end
    add_closed(closed_id(event, 0), superseded or 'f')
  end
  go_on(digest, own)
end

local function wait(digest, own, event)
  local events = lane.events_key .. digest
  -- An event without an order of its own goes behind those that wait.
  local behind = not event.has_order and redis.call('ZRANGE', events, -1, -1)[1]
  local order = behind and read_waiting(behind).order or event.order
  redis.call('ZADD', events, 0, string.format('%s %s%s %s', order, event.id, event.has_order and '+' or '?', event.fn))
  redis.call('ZADD', lane.receipts_key .. digest, now, event.id .. ' ' .. event.fn)
  count(lane.order, 1)
  if not own then
    go_on(digest, { state = WAITING, key = event.key })
  end
end

local function add_to_lane(event)
  local digest = event.digest
  local text = redis.call('HGET', open, digest)
  local own = text and read_lane(text)
  if own and own.id == event.id and own.fn == event.fn then
    return { own.state == RUNNING and own.number == 0 and 'starts' or 'waits' }
  end
  if not redis.call('ZSCORE', lane.receipts_key .. digest, event.id .. ' ' .. event.fn) then
    local superseded = superseded_by(digest, event)
    if superseded then
      return { 'superseded', unpack(fields_of(superseded), 2) }
    end
    if not own and tonumber(period) == 0 then
      begin(digest, event, event.key)
      return { 'starts' }
    end
    wait(digest, own, event)
  end
  if own and is_stopped(own) then
    return { 'parked', own.id, own.fn, own.number - 1 }
  end
  return { 'waits' }
end

-- Interval at which runs are checked, so that 100,000 lanes delay no other work.
KINDS.lane = { check_interval_ms = 200 }

-- Events: first is the order's text, '' without one; second the function, SEPARATOR and the value of the key.
-- Returns for each event: {'starts'}: now, in its lane; {'waits'}; {'parked', event, function, number of the run that stopped the lane}; or
-- {'superseded', event, function}.
function KINDS.lane.add(events)
  local results = {}
  for i, event in ipairs(events) do
    local fn, key = string.match(event.second, '^([^' .. SEPARATOR .. ']*)' .. SEPARATOR .. '(.*)$')
    local order = event.first
    results[i] = add_to_lane({ digest = event.key, id = event.id, fn = fn, key = key, order = order, has_order = order ~= '' })
  end
  return results
end

-- Closed: `s`, lane and number of a run to start; `f`: an event that runs without the lane; `x`, event, function: superseded by it;
-- `c`, lane and number of a run to check. Its ID: event, number of the run, function.
function KINDS.lane.close(digest, text)
  local own = read_lane(text)
  if own.state == WAITING or KINDS.lane.is_dissolved() then
    return advance(digest, own)
  end
  if own.state == PARKED then
    return write_lane(digest, own, now + CHECK_MAX_MS)
  end
  if own.state == RUNNING then
    local id = closed_id(own, own.number)
    if redis.call('HEXISTS', closed, id) == 0 then
      add_closed('?' .. id, table.concat({ 'c', digest, string.format('%.0f', own.number) }, SEPARATOR))
    end
    return write_lane(digest, own, now + math.min(CHECK_MAX_MS, math.max(CHECK_MS, now - own.since)))
  end
  forget_stopped(digest)
  own.state, own.since = RUNNING, now
  write_lane(digest, own, now + CHECK_MS)
  add_closed(closed_id(own, own.number), start_text(digest, own.number))
end

-- Without functions that take part, the events that wait run now.
function KINDS.lane.is_dissolved()
  return not next(lane.functions)
end

function KINDS.lane.complete(id)
  remove_closed(id)
end

function KINDS.lane.is_over()
  return false
end

-- Changes a lane at the end of a run or by a person: `next`: it continues; `block`: the event runs again after a delay; `park`: it waits
-- for a person; `retry`: the event of a stopped lane runs again now; `skip`: a stopped lane continues. `number`: number of the run that
-- ended; '*': a re-run of its event. Returns whether the lane has changed.
function lane.change(digest, action, id, fn, number)
  local text = redis.call('HGET', open, digest)
  local own = text and read_lane(text)
  if not own then
    return false
  end
  if action == 'retry' or action == 'skip' then
    if not is_stopped(own) then
      return false
    end
  elseif own.id ~= id or own.fn ~= fn then
    return false
  elseif number == '*' then
    if action ~= 'next' or not is_stopped(own) then
      return false
    end
  elseif own.state ~= RUNNING or own.number ~= tonumber(number) then
    return false
  end
  if action == 'next' or action == 'skip' then
    go_on(digest, own)
    return true
  end
  if not is_stopped(own) then
    own.number = own.number + 1
    own.since = now
    record_stopped(digest, own)
  end
  own.state = action == 'park' and PARKED or BLOCKED
  local delay = math.min(REPEAT_MAX_MS, REPEAT_MS * 2 ^ math.min(20, own.number - 1))
  if action == 'retry' then
    delay = 0
  end
  write_lane(digest, own, now + (action == 'park' and CHECK_MAX_MS or delay))
  return true
end
