-- Counts a failed run in its error group, once: the run has a mark, which goes with it. The first failure opens the group, and
-- one after it was resolved reopens it. If a function or an environment has too many groups, the group with the oldest last
-- failure is deleted.
-- KEYS: run (hash), group (hash), its users (HyperLogLog), groups of the function, open groups, resolved groups, ignored groups (zsets: fingerprint by its last
--       failure)
-- ARGV: JSON object: fingerprint, functionId, runId, step, name, message, user (optional), at (ms), hour (start in hours), hoursKept, samplesMax,
--       ofFunctionMax, ofEnvironmentMax, ttlMs
-- Returns 'opened', 'reopened', or '' for a group that was open; 0: the run was counted before, or is not there.
local run, group, users, of_function, open, resolved, ignored = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local fingerprint = args.fingerprint
local group_prefix = string.sub(group, 1, -1 - #fingerprint)
local users_prefix = string.sub(users, 1, -1 - #fingerprint)
local function_prefix = string.sub(of_function, 1, -1 - #args.functionId)

if redis.call('HDEL', run, FIELD_UNCOUNTED) == 0 then
  return 0
end

local function remove(victim)
  local id = redis.call('HGET', group_prefix .. victim, 'functionId')
  if id then
    redis.call('ZREM', function_prefix .. id, victim)
  end
  redis.call('DEL', group_prefix .. victim, users_prefix .. victim)
  for _, index in ipairs({ open, resolved, ignored }) do
    redis.call('ZREM', index, victim)
  end
end

local state, first_seen, samples, changed_at = unpack(redis.call('HMGET', group, 'state', 'firstSeen', 'samples', 'stateChangedAt'))
local happened = ''
if not state then
  happened = 'opened'
  if redis.call('ZCARD', of_function) >= args.ofFunctionMax then
    remove(redis.call('ZRANGE', of_function, 0, 0)[1])
  end
  if redis.call('ZCARD', open) + redis.call('ZCARD', resolved) + redis.call('ZCARD', ignored) >= args.ofEnvironmentMax then
    remove(redis.call('ZRANGE', resolved, 0, 0)[1] or redis.call('ZRANGE', ignored, 0, 0)[1] or redis.call('ZRANGE', open, 0, 0)[1])
  end
elseif state == 'resolved' and args.at >= tonumber(changed_at) then
  happened = 'reopened'
  redis.call('HINCRBY', group, 'reopened', 1)
end
if happened ~= '' then
  state = 'open'
  redis.call('HSET', group, 'functionId', args.functionId, 'state', state, 'firstSeen', first_seen or args.at, 'openedAt', args.at,
    'stateChangedAt', args.at)
  redis.call('HDEL', group, 'stateChangedBy')
  redis.call('ZREM', resolved, fingerprint)
end

local last = samples and cjson.decode(samples) or {}
table.insert(last, 1, { args.runId, args.at })
last[args.samplesMax + 1] = nil
redis.call('HSET', group, 'lastSeen', args.at, 'name', args.name, 'message', args.message, 'samples', cjson.encode(last))
if args.step then
  redis.call('HSET', group, 'step', args.step)
end
redis.call('HINCRBY', group, 'count', 1)
if args.user then
  redis.call('PFADD', users, args.user)
  redis.call('HINCRBY', group, 'withUser', 1)
end
-- Each new hour drops the oldest hours.
if redis.call('HINCRBY', group, 'h' .. args.hour, 1) == 1 then
  for _, field in ipairs(redis.call('HKEYS', group)) do
    local hour = tonumber(string.match(field, '^h(%d+)$'))
    if hour and hour < args.hour - args.hoursKept then
      redis.call('HDEL', group, field)
    end
  end
end
redis.call('PEXPIRE', group, args.ttlMs)
redis.call('PEXPIRE', users, args.ttlMs)
for _, index in ipairs({ of_function, ({ open = open, resolved = resolved, ignored = ignored })[state] }) do
  redis.call('ZADD', index, args.at, fingerprint)
  redis.call('ZREMRANGEBYSCORE', index, '-inf', args.at - args.ttlMs)
  redis.call('PEXPIRE', index, args.ttlMs)
end
return happened
