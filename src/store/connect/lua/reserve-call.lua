-- @include redis/lua/lib/now.lua
-- Gives a call to the connection with the most free capacity, unless it has one already.
-- KEYS: call (hash), ready connections of the app (zset)
-- ARGV: prefixes of connection (hash), connection's calls (zset), functions (set) and gateway (channel), call ID, app, function ID,
--       time until the call must be acknowledged (ms), TTL of the call (ms), new lease ID, caller ID, lease ID to replace if the
--       call is not acknowledged ('': none), a random number, NUMSUB or SHARDNUMSUB, version of the app ('': any)
-- Returns { 'assigned', connection ID, gateway ID }; { 'pending', connection ID }: the call has a connection or a reply; { 'full' }: no
--   connection has capacity; { 'none' }: no connection has the function, or none of this version has it.

-- Maximum number of connections to compare once one with free capacity is found.
local COMPARED = 32

local now = time_now()
local callId = ARGV[5]
local avoided

local call = redis.call('HMGET', KEYS[1], 'lease', 'connection', 'until', 'acknowledged')
if call[1] then
  local hasReply = redis.call('HEXISTS', KEYS[1], 'reply') == 1
  local isReplaced = call[1] == ARGV[12] and not call[4]
  if hasReply or (not isReplaced and tonumber(call[3]) > now) then
    redis.call('HSET', KEYS[1], 'caller', ARGV[11])
    redis.call('PEXPIRE', KEYS[1], ARGV[9])
    return { 'pending', call[2] }
  end
  avoided = call[2]
  redis.call('ZREM', ARGV[2] .. avoided, callId)
  redis.call('DEL', KEYS[1])
end

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local ids = redis.call('ZRANGE', KEYS[2], 0, -1)
local best, bestGateway, bestLoad
local isKnown = false
for i = 1, #ids do
  local id = ids[(i + ARGV[13]) % #ids + 1]
  local connection = redis.call('HMGET', ARGV[1] .. id, 'gateway', 'concurrency', 'functions:' .. ARGV[6], 'version:' .. ARGV[6])
  local gateway, functions = connection[1], connection[3] and ARGV[3] .. connection[3]
  if not gateway or redis.call('PUBSUB', ARGV[14], ARGV[4] .. gateway)[2] == 0 then
    redis.call('ZREM', KEYS[2], id)
  elseif functions and (ARGV[15] == '' or connection[4] == ARGV[15])
    and (redis.call('SISMEMBER', functions, ARGV[7]) == 1 or redis.call('EXISTS', functions) == 0) then
    isKnown = true
    redis.call('ZREMRANGEBYSCORE', ARGV[2] .. id, '-inf', now)
    local load = redis.call('ZCARD', ARGV[2] .. id) / connection[2]
    if load < 1 and id ~= avoided and (not best or load < bestLoad) then
      best, bestGateway, bestLoad = id, gateway, load
    end
  end
  if best and (bestLoad == 0 or i >= COMPARED) then break end
end
if not best then return { isKnown and 'full' or 'none' } end

local dueAt = now + ARGV[8]
redis.call('HSET', KEYS[1], 'connection', best, 'lease', ARGV[10], 'until', dueAt, 'caller', ARGV[11])
redis.call('PEXPIRE', KEYS[1], ARGV[9])
redis.call('ZADD', ARGV[2] .. best, dueAt, callId)
redis.call('PEXPIRE', ARGV[2] .. best, ARGV[9])
return { 'assigned', best, bestGateway }
