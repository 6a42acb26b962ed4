-- Changes the state of a webhook's reconciliation, if it is that of the list that the caller reads.
-- KEYS: state (hash)
-- ARGV: the list ('': any), TTL (ms); then for each field its name and value (JSON; '': removed)
-- Returns 1; 0: the state is gone, or that of another list.
local state = KEYS[1]
local list, ttl = ARGV[1], ARGV[2]
local FIRST_FIELD, ARGS_PER_FIELD = 3, 2

if list ~= '' and redis.call('HGET', state, 'since') ~= list then
  return 0
end
for i = FIRST_FIELD, #ARGV, ARGS_PER_FIELD do
  local name, value = ARGV[i], ARGV[i + 1]
  if value == '' then
    redis.call('HDEL', state, name)
  else
    redis.call('HSET', state, name, value)
  end
end
redis.call('PEXPIRE', state, ttl)
return 1
