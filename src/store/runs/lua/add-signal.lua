-- @include runs/lua/lib/is-active.lua
-- @include runs/lua/lib/remove-waits.lua
-- Stores a wait for a signal while its run is active. A signal has one wait; end-run.lua removes it with its run.
-- KEYS: run (hash), signal (hash)
-- ARGV: key of the wait, TTL (ms), 1 to replace the wait of another step or '', what precedes a run ID in the key of a run
-- Returns {'stored', the key of the replaced wait or false}; {'taken'}: another step waits for the signal; {'ended'}: the run has ended.
local run, signal = unpack(KEYS)
local wait_key, ttl, replaces, run_prefix = unpack(ARGV)
if not is_active(redis.call('HGET', run, FIELD_STATUS)) then
  return {'ended'}
end
local replaced = false
local holder = redis.call('HKEYS', signal)[1]
if holder and holder ~= wait_key then
  local run_id, step = string.match(holder, '^(.-)/(.*)$')
  local other = run_prefix .. run_id
  -- Whoever finished the step may have died before the wait was removed.
  local waits = is_active(redis.call('HGET', other, FIELD_STATUS)) and redis.call('HEXISTS', other .. SUFFIX_MEMOS, step) == 0
  if waits and replaces == '' then
    return {'taken'}
  end
  replaced = waits and holder
  remove_wait(other .. SUFFIX_WAITS, holder)
  redis.call('HDEL', signal, holder)
end
redis.call('HSET', run .. SUFFIX_WAITS, wait_key, cjson.encode({ signal, '', '' }))
redis.call('HSET', signal, wait_key, 1)
redis.call('PEXPIRE', signal, ttl)
return {'stored', replaced}
