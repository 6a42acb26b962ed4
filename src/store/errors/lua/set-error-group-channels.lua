-- Names the alert channels that hear of an error group.
-- KEYS: group (hash)
-- ARGV: names (JSON text); empty: those of the rule
-- Returns 1: done; 0: there is no such group.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
if ARGV[1] == '' then
  redis.call('HDEL', KEYS[1], 'alertChannels')
else
  redis.call('HSET', KEYS[1], 'alertChannels', ARGV[1])
end
return 1
