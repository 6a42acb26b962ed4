-- Notes why an attempt failed, unless the run has ended meanwhile: what ended it stands.
-- KEYS[1] run (hash: run-fields.ts)
-- ARGV[1] error, as JSON
-- Returns nothing.
if redis.call('HGET', KEYS[1], 's') == 'Running' then
  redis.call('HSET', KEYS[1], 'error', ARGV[1])
end
