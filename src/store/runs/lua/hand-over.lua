-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/packed-run.lua
-- Ends the ownership of a call or request that stored steps: the owner can store no more steps, and a new call continues the run.
-- KEYS: run (hash)
-- ARGV: owner
-- Returns the number of finished steps; false: the owner does not own the run, has stored no steps, or the run has ended.
local run, owner = KEYS[1], ARGV[1]
local status, checkpoint, packed = unpack(redis.call('HMGET', run, FIELD_STATUS, FIELD_CHECKPOINT, FIELD_PACKED))
if packed then
  packed_runs().unpack(run)
end
local length = redis.call('LLEN', run .. SUFFIX_STACK)
if not is_active(status) or checkpoint ~= length .. ':' .. owner then
  return false
end
redis.call('HDEL', run, FIELD_CHECKPOINT)
return length
