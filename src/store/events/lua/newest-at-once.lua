-- The newest of any number of sorted sets of IDs by time, read as one list at one moment: what moves from one set to another is seen once.
-- KEYS[1…] the sets
-- ARGV[1] how many  ARGV[2] from when on (ms)  ARGV[3] up to when, as ZREVRANGEBYSCORE takes it: that of the cursor, if there is one
-- ARGV[4] time (ms) and ARGV[5] ID of the cursor, than which all shall be older; '' and '': none
-- Returns ID, time (ms), ID, time, …, newest first.
local READ_AT_ONCE = 10
local limit, after = tonumber(ARGV[1]), tonumber(ARGV[2])
local cursorAt, cursorId = tonumber(ARGV[4]), ARGV[5]

local function isNewer(a, b)
  return a.at > b.at or (a.at == b.at and a.id > b.id)
end

-- The rank of the newest that is older than the cursor, in a set that has some of the cursor's very millisecond.
local function rankAtCursor(key)
  local first = redis.call('ZCOUNT', key, '(' .. ARGV[4], '+inf')
  local past = first + redis.call('ZCOUNT', key, ARGV[4], ARGV[4])
  while first < past do
    local middle = math.floor((first + past) / 2)
    if redis.call('ZREVRANGE', key, middle, middle)[1] < cursorId then
      past = middle
    else
      first = middle + 1
    end
  end
  return first
end

-- A set's newest: at, id, and key to read on from. nil: it has none since `oldest`.
local function headOf(key, oldest)
  local found = redis.call('ZREVRANGEBYSCORE', key, ARGV[3], oldest, 'WITHSCORES', 'LIMIT', 0, 1)
  if cursorAt and tonumber(found[2]) == cursorAt and found[1] >= cursorId then
    local rank = rankAtCursor(key)
    found = redis.call('ZREVRANGE', key, rank, rank, 'WITHSCORES')
  end
  local at = tonumber(found[2])
  return at and at >= oldest and { id = found[1], at = at, key = key } or nil
end

-- What follows it in its set; nil: nothing.
local function nextOf(head)
  if not head.read or head.place > #head.read then
    head.rank = head.rank or redis.call('ZREVRANK', head.key, head.id) + 1
    head.read = redis.call('ZREVRANGE', head.key, head.rank, head.rank + READ_AT_ONCE - 1, 'WITHSCORES')
    head.rank = head.rank + READ_AT_ONCE
    head.place = 1
  end
  local at = tonumber(head.read[head.place + 1])
  if not at or at < after then
    return nil
  end
  head.id, head.at = head.read[head.place], at
  head.place = head.place + 2
  return head
end

-- Newest first. What is not among the newest `limit` has nothing on the page.
local heads = {}
local function insert(head)
  local place = #heads
  while place > 0 and isNewer(head, heads[place]) do
    place = place - 1
  end
  table.insert(heads, place + 1, head)
  heads[limit + 1] = nil
end

for _, key in ipairs(KEYS) do
  local head = headOf(key, #heads == limit and heads[limit].at or after)
  if head then
    insert(head)
  end
end
local page = {}
while #page < 2 * limit and #heads > 0 do
  local head = table.remove(heads, 1)
  table.insert(page, head.id)
  table.insert(page, head.at)
  local following = nextOf(head)
  if following then
    insert(following)
  end
end
return page
