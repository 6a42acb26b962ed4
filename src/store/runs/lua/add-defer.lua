-- @include runs/lua/lib/is-active.lua
-- Stores a function that a run defers until its end, or that it aborts one.
-- KEYS: run (hash)
-- ARGV: ID, deferred function (JSON) or '' to abort, maximum number of deferred functions, maximum bytes of them and the run's memos
-- Returns 'stored': now or before; 'ended'; 'count' or 'bytes': the run has too many.
local run = KEYS[1]
local id, deferred, max_count, max_bytes = unpack(ARGV)
local defers = run .. SUFFIX_DEFERS
if not is_active(redis.call('HGET', run, FIELD_STATUS)) then
  return 'ended'
end
local is_new = redis.call('HEXISTS', defers, id) == 0
-- An existing entry is kept: a replayed function defers again, even functions aborted since.
if not is_new and deferred ~= '' then
  return 'stored'
end
if is_new and redis.call('HLEN', defers) >= tonumber(max_count) then
  return 'count'
end
if #deferred > 0 and redis.call('HINCRBY', run, FIELD_MEMO_BYTES, #deferred) > tonumber(max_bytes) then
  redis.call('HINCRBY', run, FIELD_MEMO_BYTES, -#deferred)
  return 'bytes'
end
redis.call('HSET', defers, id, deferred)
redis.call('HSET', run, FIELD_DEFERS, redis.call('HLEN', defers))
return 'stored'
