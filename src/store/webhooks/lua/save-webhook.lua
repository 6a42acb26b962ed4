-- Writes a webhook and its versions, unless it has changed since it was read.
-- KEYS: webhooks (hash: ID -> JSON), webhook keys (hash: key -> ID), versions of the webhook (hash)
-- ARGV: ID, webhook as it was read (JSON; '': it is new), webhook (JSON), keys to add (JSON list), keys to remove (JSON list),
--       maximum number of versions, their maximum bytes; then for each version to add its number, summary (JSON) and snapshot
--       (JSON), the live one last
-- Returns 1: written; 0: the webhook has changed, or it is gone.
local webhooks, webhook_keys, versions = unpack(KEYS)
local id, before, after, added, removed, max_versions, max_bytes = unpack(ARGV)

if (redis.call('HGET', webhooks, id) or '') ~= before then
  return 0
end
redis.call('HSET', webhooks, id, after)
for _, key in ipairs(cjson.decode(added)) do
  redis.call('HSET', webhook_keys, key, id)
end
for _, key in ipairs(cjson.decode(removed)) do
  redis.call('HDEL', webhook_keys, key)
end
if #ARGV == 7 then
  return 1
end

local live = tonumber(ARGV[#ARGV - 2])
for at = 8, #ARGV, 3 do
  local number, summary, snapshot = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  -- The version before the live one exists, unless it predates versions.
  if tonumber(number) == live or redis.call('HEXISTS', versions, number) == 0 then
    redis.call('HSET', versions, number, summary, number .. ':snapshot', snapshot)
  end
end

-- Numbers have no gaps, so the oldest versions are dropped first.
local bytes, number = 0, live
while true do
  local name = string.format('%d', number)
  local size = redis.call('HSTRLEN', versions, name) + redis.call('HSTRLEN', versions, name .. ':snapshot')
  if size == 0 then
    return 1
  end
  bytes = bytes + size
  if number < live and (live - number >= tonumber(max_versions) or bytes > tonumber(max_bytes)) then
    redis.call('HDEL', versions, name, name .. ':snapshot')
  end
  number = number - 1
end
