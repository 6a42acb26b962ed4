-- Makes a run, once.
-- KEYS[1] run (hash)   KEYS[2] runs of its event (zset)
-- ARGV[1] run ID   ARGV[2] time of creation (ms)   ARGV[3] retention of the list (ms)   ARGV[4…] fields and values of the run
-- Returns 1 when it was made, 0 when it was there.
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
redis.call('HSET', KEYS[1], unpack(ARGV, 4))
redis.call('ZADD', KEYS[2], 'NX', ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
