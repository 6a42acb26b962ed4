-- @include redis/lua/lib/is-before.lua
-- Merges sorted sets of IDs by time and returns the newest entries. Reads all sets atomically: an entry that moves from one set to
-- another is seen once.
-- KEYS: the sets
-- ARGV: JSON object: limit, after (ms), top (as ZREVRANGEBYSCORE takes it; the cursor's time if there is a cursor),
--       cursorAt (ms) and cursorId, if entries must be older than a cursor
-- Returns ID, time (ms), ID, time, …, newest first.
local READ_AT_ONCE = 10
local args = cjson.decode(ARGV[1])
local limit, after, top = args.limit, args.after, args.top
local cursor_at, cursor_id = args.cursorAt, args.cursorId

local function is_newer(a, b)
  return a.at > b.at or (a.at == b.at and is_before(b.id, a.id))
end

-- Rank of the newest entry older than the cursor, in a set with entries of the cursor's millisecond.
local function rank_at_cursor(key)
  local first = redis.call('ZCOUNT', key, '(' .. cursor_at, '+inf')
  local past = first + redis.call('ZCOUNT', key, cursor_at, cursor_at)
  while first < past do
    local middle = math.floor((first + past) / 2)
    if is_before(redis.call('ZREVRANGE', key, middle, middle)[1], cursor_id) then
      past = middle
    else
      first = middle + 1
    end
  end
  return first
end

-- Newest entry of a set: id, at, and the key of the set. nil: the set has none since `oldest`.
local function head_of(key, oldest)
  local found = redis.call('ZREVRANGEBYSCORE', key, top, oldest, 'WITHSCORES', 'LIMIT', 0, 1)
  if cursor_at and tonumber(found[2]) == cursor_at and not is_before(found[1], cursor_id) then
    local rank = rank_at_cursor(key)
    found = redis.call('ZREVRANGE', key, rank, rank, 'WITHSCORES')
  end
  local at = tonumber(found[2])
  return at and at >= oldest and { id = found[1], at = at, key = key } or nil
end

-- Entry that follows `head` in its set, or nil.
local function next_of(head)
  if not head.page or head.position > #head.page then
    head.rank = head.rank or redis.call('ZREVRANK', head.key, head.id) + 1
    head.page = redis.call('ZREVRANGE', head.key, head.rank, head.rank + READ_AT_ONCE - 1, 'WITHSCORES')
    head.rank = head.rank + READ_AT_ONCE
    head.position = 1
  end
  local at = tonumber(head.page[head.position + 1])
  if not at or at < after then
    return nil
  end
  head.id, head.at = head.page[head.position], at
  head.position = head.position + 2
  return head
end

-- Sorted, newest first. Only the newest `limit` heads can contribute to the page.
local heads = {}
local function insert(head)
  local position = #heads
  while position > 0 and is_newer(head, heads[position]) do
    position = position - 1
  end
  table.insert(heads, position + 1, head)
  heads[limit + 1] = nil
end

for _, key in ipairs(KEYS) do
  local head = head_of(key, #heads == limit and heads[limit].at or after)
  if head then
    insert(head)
  end
end
local page = {}
while #page < 2 * limit and #heads > 0 do
  local head = table.remove(heads, 1)
  table.insert(page, head.id)
  table.insert(page, head.at)
  local following = next_of(head)
  if following then
    insert(following)
  end
end
return page
