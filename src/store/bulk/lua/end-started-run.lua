-- Counts the end of a run that a bulk operation started, once.
-- KEYS: active runs of the operation (set), operation (hash)
-- ARGV: run ID, field of the operation that counts such ends
-- Returns 1: counted; 0: counted before, or the operation is gone.
if redis.call('SREM', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('HINCRBY', KEYS[2], ARGV[2], 1)
return 1
