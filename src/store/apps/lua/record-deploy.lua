-- Adds a deploy to the histories of its app and its environment, unless the app's newest deploy has the same content: several processes may
-- register an app at the same time.
-- KEYS: the app's deploys (list, newest first)
--       the environment's deploys (list, newest first)
-- ARGV: deploy (JSON)
--       digest of its content
--       maximum number of deploys of the app
--       maximum number of deploys of the environment
--       TTL (ms)
-- Returns 1: added; 0: not added.
local newest = redis.call('LINDEX', KEYS[1], 0)
if newest and cjson.decode(newest).content == ARGV[2] then
  return 0
end
for i = 1, 2 do
  redis.call('LPUSH', KEYS[i], ARGV[1])
  redis.call('LTRIM', KEYS[i], 0, tonumber(ARGV[2 + i]) - 1)
  redis.call('PEXPIRE', KEYS[i], ARGV[5])
end
return 1
