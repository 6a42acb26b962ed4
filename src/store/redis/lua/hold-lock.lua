-- Holds a lock for longer, or lets go of it, if it is still the holder's.
-- KEYS[1] lock (string)
-- ARGV[1] holder's token  ARGV[2] for how long (ms); 0: not any longer
-- Returns 1 done, 0 it is another's.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
