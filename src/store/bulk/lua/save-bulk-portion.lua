-- Ends a portion of a bulk operation, once: stores its position and results, and counts them.
-- KEYS: operation (hash)
--       operations of the kind and environment (zset)
--       open operations (set)
--       portion (hash)
--       active runs (set)
--       then lists of results
-- ARGV: JSON object:
--       number: of the portion
--       id: of the operation
--       fields: fields of the operation to set
--       removed: fields to remove
--       counts: numbers to add to fields
--       results: {list: number of the list, text, skipped: whether it is a skipped object}
--       results_max: maximum length of a list
--       skipped_max: maximum number of skipped results
--       keeps_last: beyond results_max, drop the first results of a list; otherwise the new ones
--       gone: runs that were registered and do not exist
--       done: fields to set if the operation has examined everything; absent otherwise
--       ttl, done_ttl, results_ttl (ms)
-- Returns the status;
--         false: another worker has taken over, or the operation is gone.
-- @include bulk/lua/extend.lua
local operation, operations, open, portion, active = unpack(KEYS)
local FIRST_LIST = 6
local given = cjson.decode(ARGV[1])

local number, status = unpack(redis.call('HMGET', operation, 'portion', 'status'))
if number ~= given.number then
  return false
end
redis.call('HINCRBY', operation, 'portion', 1)
for _, field in ipairs(given.removed) do
  redis.call('HDEL', operation, field)
end
for field, value in pairs(given.fields) do
  redis.call('HSET', operation, field, value)
end
for field, count in pairs(given.counts) do
  redis.call('HINCRBY', operation, field, count)
end

local skipped_kept = tonumber(redis.call('HGET', operation, 'skipped_kept') or 0)
local function fits(list, result)
  if given.keeps_last then
    return true
  end
  return redis.call('LLEN', list) < given.results_max and (not result.skipped or skipped_kept < given.skipped_max)
end
for _, result in ipairs(given.results) do
  local list = KEYS[FIRST_LIST + result.list]
  if fits(list, result) then
    redis.call('RPUSH', list, result.text)
    skipped_kept = skipped_kept + (result.skipped and 1 or 0)
  else
    redis.call('HINCRBY', operation, 'results_omitted', 1)
  end
  if given.keeps_last then
    redis.call('LTRIM', list, -given.results_max, -1)
  end
end
redis.call('HSET', operation, 'skipped_kept', skipped_kept)

for _, run in ipairs(given.gone) do
  redis.call('SREM', active, run)
end
redis.call('DEL', portion)
local ttl = given.ttl
-- An operation paused during its last portion has nothing left to resume.
if given.done and (status == 'running' or status == 'paused') then
  status = 'done'
  ttl = given.done_ttl
  redis.call('HSET', operation, 'status', status)
  for field, value in pairs(given.done) do
    redis.call('HSET', operation, field, value)
  end
  redis.call('SREM', open, given.id)
end
extend(operations, ttl)
extend(open, ttl)
for i, key in ipairs(KEYS) do
  if key ~= operations and key ~= open then
    redis.call('PEXPIRE', key, i < FIRST_LIST and ttl or math.min(ttl, given.results_ttl))
  end
end
return status
