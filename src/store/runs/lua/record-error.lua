-- Records why an attempt failed, unless the run has ended in the meantime.
-- KEYS: run (hash)
-- ARGV: error (JSON)
-- Returns nothing.
if redis.call('HGET', KEYS[1], FIELD_STATUS) == STATUS_RUNNING then
  redis.call('HSET', KEYS[1], FIELD_ERROR, ARGV[1])
end
