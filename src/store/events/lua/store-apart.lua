-- Stores an event apart from its bucket, unless it is there.
-- KEYS[1] its bucket (hash)  KEYS[2] its kept copy (string)
-- ARGV[1] its field in KEYS[1]  ARGV[2] the event, as text  ARGV[3] how long it stays (ms)
-- Returns 1 when it was stored, 0 when it was there.
if redis.call('HSTRLEN', KEYS[1], ARGV[1]) > 0 then
  return 0
end
return redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3]) and 1 or 0
