-- Adds failures to the issue of a webhook and a kind. The first failure opens the issue, and a failure after its resolution reopens it;
-- both add a pending notification. Late failures from before the resolution are only counted.
-- KEYS: issue (hash)
--       issues that are open, acknowledged, resolved, ignored (zsets: issue ID by its last failure)
--       pending notifications (zset)
-- ARGV: JSON object:
--       id, webhookId, kind
--       firstAt, lastAt (ms)
--       count
--       reasons: reason -> count
--       sample: JSON text of the last failure
--       reasonsMax
--       nowMs, ttlMs
--       ifNot: optional marker; nothing happens if the issue has it, and otherwise the issue gets it
-- Returns what happened ('opened', 'reopened' or ''), the state, and how often the issue was reopened.
local issue, open, acknowledged, resolved, ignored, notifications = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local byState = { open = open, acknowledged = acknowledged, resolved = resolved, ignored = ignored }
local OTHER = 'other'

local state, reopened, known, marker, firstSeen, lastSeen, changedAt =
  unpack(redis.call('HMGET', issue, 'state', 'reopened', 'reasons', 'marker', 'firstSeen', 'lastSeen', 'stateChangedAt'))
reopened = tonumber(reopened) or 0
if args.ifNot and marker == args.ifNot then
  return { '', state, reopened }
end

local reasons, different = known and cjson.decode(known) or {}, 0
for _ in pairs(reasons) do
  different = different + 1
end
for reason, count in pairs(args.reasons) do
  if not reasons[reason] and different >= args.reasonsMax - 1 then
    reason = OTHER
  end
  if not reasons[reason] then
    different = different + 1
  end
  reasons[reason] = (reasons[reason] or 0) + count
end

local happened, openedAt = '', args.firstAt
if not state then
  happened = 'opened'
elseif state == 'resolved' and args.lastAt >= tonumber(changedAt) then
  happened = 'reopened'
  openedAt = math.max(openedAt, tonumber(changedAt))
  reopened = reopened + 1
end
local count = redis.call('HINCRBY', issue, 'count', args.count)
redis.call('HSET', issue, 'reasons', cjson.encode(reasons))
if args.ifNot then
  redis.call('HSET', issue, 'marker', args.ifNot)
end
if args.lastAt >= (tonumber(lastSeen) or 0) then
  lastSeen = args.lastAt
  redis.call('HSET', issue, 'lastSeen', lastSeen, 'sample', args.sample)
end
if happened ~= '' then
  firstSeen = firstSeen or args.firstAt
  local notification = { at = args.nowMs, count = count, firstSeen = tonumber(firstSeen), sample = cjson.decode(args.sample) }
  redis.call('HSET', issue, 'webhookId', args.webhookId, 'kind', args.kind, 'state', 'open', 'firstSeen', firstSeen,
    'openedAt', openedAt, 'reopened', reopened, 'stateChangedAt', args.nowMs, 'tell:failing:' .. reopened, cjson.encode(notification))
  redis.call('HDEL', issue, 'stateChangedBy', 'replayId')
  redis.call('ZREM', resolved, args.id)
  redis.call('ZADD', notifications, args.nowMs, args.id .. ' failing ' .. reopened)
  redis.call('PEXPIRE', notifications, args.ttlMs)
  state = 'open'
end
redis.call('ZADD', byState[state], lastSeen, args.id)
redis.call('ZREMRANGEBYSCORE', byState[state], '-inf', args.nowMs - args.ttlMs)
redis.call('PEXPIRE', byState[state], args.ttlMs)
redis.call('PEXPIRE', issue, args.ttlMs)
return { happened, state, reopened }
