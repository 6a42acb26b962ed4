-- Makes a run, once.
-- KEYS[1] run (hash)  KEYS[2] runs of its event (zset)  KEYS[3] active runs (zset)  KEYS[4] active runs of its environment (zset)
-- KEYS[5] active runs of its function (zset)
-- ARGV[1] run ID  ARGV[2] time of creation (ms)  ARGV[3] retention of the list (ms)  ARGV[4] the run's member in KEYS[3]
-- ARGV[5] when to look after the run if nothing is heard of it (ms)  ARGV[6…] fields and values of the run
-- Returns 1 when it was made, 0 when it was there.
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
redis.call('HSET', KEYS[1], unpack(ARGV, 6))
redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3], 'NX')
redis.call('PEXPIRE', KEYS[2], ARGV[3], 'GT')
redis.call('ZADD', KEYS[3], ARGV[5], ARGV[4])
redis.call('ZADD', KEYS[4], ARGV[2], ARGV[1])
redis.call('ZADD', KEYS[5], ARGV[2], ARGV[1])
return 1
