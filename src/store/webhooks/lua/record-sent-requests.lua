-- Compares items of a provider's list with the requests that came. Repeating it changes nothing.
-- KEYS: came, sent, missing (zsets: provider's ID by time), details of missing requests (hash), state of the reconciliation (hash)
-- ARGV: the list of which the state must be ('': any), maximum number of missing requests, TTL (ms); then for each item its ID, time (ms) and details (JSON)
-- Returns the number of items that came or were recovered, of those that are missing and new, and of those for which there was no room;
-- nothing if the state is gone, or that of another list.
local came, sent, missing, details, state = unpack(KEYS)
local list, maxMissing, ttl = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local FIRST_ITEM, ARGS_PER_ITEM = 4, 3

if list ~= '' and redis.call('HGET', state, 'since') ~= list then
  return
end

local count = redis.call('ZCARD', missing)
local matched, added, left = 0, 0, 0
for i = FIRST_ITEM, #ARGV, ARGS_PER_ITEM do
  local id, at, about = unpack(ARGV, i, i + ARGS_PER_ITEM - 1)
  if redis.call('ZSCORE', sent, id) then
    matched = matched + 1
  elseif redis.call('ZREM', came, id) == 1 then
    redis.call('ZADD', sent, at, id)
    count = count - redis.call('ZREM', missing, id)
    redis.call('HDEL', details, id)
    matched = matched + 1
  elseif not redis.call('ZSCORE', missing, id) then
    if count < maxMissing then
      redis.call('ZADD', missing, at, id)
      redis.call('HSET', details, id, about)
      count = count + 1
      added = added + 1
    else
      left = left + 1
    end
  end
end
for _, key in ipairs({ sent, missing, details }) do
  redis.call('PEXPIRE', key, ttl)
end
return { matched, added, left }
