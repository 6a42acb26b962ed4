-- Ends a portion of a replay: stores its position and results, and counts them, once.
-- KEYS: replay (hash), portion (hash), active runs (set), results (list), due replays (zset), replays (zset) and open replays of the environment (set)
-- ARGV: as JSON: number: of the portion; member: in the due replays; id; ttl (ms); fields: to set; removed: fields to remove; counts: what to add
--       to fields; kept: results, and which of them are skipped; results_max, skipped_max; gone: runs that were registered and do not exist;
--       due_at: when it goes on (ms); done_at: it has looked at everything (ms, absent: it has not)
-- Returns 1: saved; 0: another worker has gone on in the meantime, or the replay is gone.
local replay, portion, active, results, due, replays, open = unpack(KEYS)
local given = cjson.decode(ARGV[1])

local number, status = unpack(redis.call('HMGET', replay, 'portion', 'status'))
if not number then
  redis.call('ZREM', due, given.member)
  return 0
end
if number ~= given.number then
  return 0
end
redis.call('HINCRBY', replay, 'portion', 1)
for field, value in pairs(given.fields) do
  redis.call('HSET', replay, field, value)
end
for _, field in ipairs(given.removed) do
  redis.call('HDEL', replay, field)
end
for field, count in pairs(given.counts) do
  redis.call('HINCRBY', replay, field, count)
end
local kept, skipped_kept = redis.call('LLEN', results), tonumber(redis.call('HGET', replay, 'skipped_kept') or 0)
for _, result in ipairs(given.results) do
  local fits = kept < given.results_max and (not result.skipped or skipped_kept < given.skipped_max)
  if fits then
    redis.call('RPUSH', results, result.text)
    kept = kept + 1
    if result.skipped then
      skipped_kept = skipped_kept + 1
    end
  else
    redis.call('HINCRBY', replay, 'results_omitted', 1)
  end
end
redis.call('HSET', replay, 'skipped_kept', skipped_kept)
for _, run in ipairs(given.gone) do
  redis.call('SREM', active, run)
end
redis.call('DEL', portion)
if given.done_at and status == 'running' then
  redis.call('HSET', replay, 'status', 'done', 'done_at', given.done_at)
  redis.call('SREM', open, given.id)
end
if status == 'paused' then
  redis.call('ZREM', due, given.member)
else
  redis.call('ZADD', due, 'XX', given.due_at, given.member)
end
for _, key in ipairs({ replay, active, results, replays, open }) do
  redis.call('PEXPIRE', key, given.ttl)
end
return 1
