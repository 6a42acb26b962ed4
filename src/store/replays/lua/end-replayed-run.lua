-- Counts the end of a run that a replay started, once.
-- KEYS: active runs of the replay (set), replay (hash)
-- ARGV: run ID, field of the replay that counts such ends
-- Returns 1: counted now; 0: before, or the replay is gone.
if redis.call('SREM', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('HINCRBY', KEYS[2], ARGV[2], 1)
return 1
