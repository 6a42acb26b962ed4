-- Changes the state of an issue of a webhook.
-- KEYS: issue (hash), issues that are open, acknowledged, resolved, ignored (zsets: issue ID by its last failure), pending notifications
-- (zset)
-- ARGV: JSON object: id, from (states that it may have), to, by (JSON text), nowMs, ttlMs, notification (optional: JSON text of
-- the notification to send, as `recovered`)
-- Returns 1: changed; 0: it has another state; -1: there is no such issue.
local issue, open, acknowledged, resolved, ignored, notifications = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local byState = { open = open, acknowledged = acknowledged, resolved = resolved, ignored = ignored }

local state, lastSeen, reopened = unpack(redis.call('HMGET', issue, 'state', 'lastSeen', 'reopened'))
if not state then
  return -1
end
local isPossible = false
for _, from in ipairs(args.from) do
  isPossible = isPossible or from == state
end
if not isPossible or state == args.to then
  return 0
end
redis.call('HSET', issue, 'state', args.to, 'stateChangedAt', args.nowMs, 'stateChangedBy', args.by)
redis.call('ZREM', byState[state], args.id)
redis.call('ZADD', byState[args.to], lastSeen, args.id)
redis.call('PEXPIRE', byState[args.to], args.ttlMs)
if args.notification then
  redis.call('HSET', issue, 'tell:recovered:' .. reopened, args.notification)
  redis.call('ZADD', notifications, args.nowMs, args.id .. ' recovered ' .. reopened)
  redis.call('PEXPIRE', notifications, args.ttlMs)
end
return 1
