-- Makes runs of one environment, each once.
-- KEYS[1] active runs (zset)  KEYS[2] those of the environment (zset)
-- ARGV[1] time of creation (ms)  ARGV[2] retention of the lists of events' runs (ms)  ARGV[3] what precedes a run's ID in KEYS[1]
-- ARGV[4] what precedes a run's ID in its key  ARGV[5] an event's ID in the key of its runs (zset)
-- ARGV[6] a function's ID in the key of its active runs (zset)
-- ARGV[7] the runs, as JSON: of each an array of its ID, when to look after it if nothing is heard of it (ms), its function's ID, its event's ID,
-- and further fields and values of its hash (run-fields.ts)
-- Returns nothing.
for _, run in ipairs(cjson.decode(ARGV[7])) do
  local id, look_after_at, fn, event = run[1], run[2], run[3], run[4]
  local key = ARGV[4] .. id
  if redis.call('EXISTS', key) == 0 then
    redis.call('HSET', key, 'f', fn, 'e', event, 's', 'Queued', 'a', 0, 'q', ARGV[1], unpack(run, 5))
    local runs_of_event = ARGV[5] .. event
    redis.call('ZADD', runs_of_event, ARGV[1], id)
    redis.call('PEXPIRE', runs_of_event, ARGV[2])
    redis.call('ZADD', KEYS[1], look_after_at, ARGV[3] .. id)
    redis.call('ZADD', KEYS[2], ARGV[1], id)
    redis.call('ZADD', ARGV[6] .. fn, ARGV[1], id)
  end
end
