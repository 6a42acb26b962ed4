-- Adds a bulk operation, unless too many of its kind are open, or an open operation has the same digest.
-- KEYS: operation (hash)
--       operations of the kind and environment (zset)
--       open operations (set)
--       due operations of the kind (zset)
-- ARGV: ID
--       its member in the due operations
--       now (ms)
--       TTL (ms)
--       maximum number of open operations
--       digest of its work; '': duplicates are allowed
--       then fields and values of the operation
-- Returns {1}: added;
--         {0, count}: too many operations are open;
--         {2, ID}: the operation with this ID has the same digest.
-- @include bulk/lua/extend.lua
local operation, operations, open, due = unpack(KEYS)
local id, member, now, ttl, most, digest = unpack(ARGV, 1, 6)
local FIRST_FIELD = 7

if digest ~= '' then
  local prefix = string.sub(operation, 1, -#id - 1)
  for _, other in ipairs(redis.call('SMEMBERS', open)) do
    if redis.call('HGET', prefix .. other, 'digest') == digest then
      return {2, other}
    end
  end
end
local count = redis.call('SCARD', open)
if count >= tonumber(most) then
  return {0, count}
end
redis.call('HSET', operation, 'digest', digest, unpack(ARGV, FIRST_FIELD))
redis.call('PEXPIRE', operation, ttl)
redis.call('ZADD', operations, now, id)
redis.call('SADD', open, id)
extend(operations, ttl)
extend(open, ttl)
redis.call('ZADD', due, now, member)
return {1}
