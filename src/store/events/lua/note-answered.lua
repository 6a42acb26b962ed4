-- Notes that a call was answered, unless one with more finished steps was, or the run is gone: it may have been deleted meanwhile, or have expired.
-- KEYS[1] run (hash: run-fields.ts)
-- ARGV[1] field  ARGV[2] how many steps were finished when the call was made
-- Returns nothing.
if redis.call('HEXISTS', KEYS[1], 's') == 1 and tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or -1) < tonumber(ARGV[2]) then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
