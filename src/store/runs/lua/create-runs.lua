-- Makes runs of one environment, each once.
-- KEYS[1] active runs (zset)  KEYS[2] those of the environment (zset)
-- ARGV[1] time of creation (ms)  ARGV[2] retention of the lists of events' runs (ms)  ARGV[3] what precedes a run's ID in KEYS[1]
-- ARGV[4] what precedes a run's ID in its key  ARGV[5] a slice of time in the key of its events' runs (hash)
-- ARGV[6] an event's ID in the key of its late runs (string)  ARGV[7] a function's ID in the key of its active runs (zset)
-- ARGV[8] the runs, as JSON: of each an array of its ID, when to look after it if nothing is heard of it (ms), its function's ID, its event's ID,
-- whether it is late, and further fields and values of its hash (run-fields.ts)
-- Returns nothing.

-- As in event-location.ts.
local SLICE_LENGTH = 8

local in_time, late = {}, {}
for _, run in ipairs(cjson.decode(ARGV[8])) do
  local id, look_after_at, fn, event = run[1], run[2], run[3], run[4]
  local key = ARGV[4] .. id
  if redis.call('EXISTS', key) == 0 then
    redis.call('HSET', key, 'f', fn, 'e', event, 's', 'Queued', 'a', 0, 'q', ARGV[1], unpack(run, 6))
    redis.call('ZADD', KEYS[1], look_after_at, ARGV[3] .. id)
    redis.call('ZADD', KEYS[2], ARGV[1], id)
    redis.call('ZADD', ARGV[7] .. fn, ARGV[1], id)
    local listed = run[5] and late or in_time
    listed[event] = (listed[event] or '') .. id
  end
end
for event, ids in pairs(in_time) do
  local key, field = ARGV[5] .. string.sub(event, 1, SLICE_LENGTH), string.sub(event, SLICE_LENGTH + 1)
  redis.call('HSET', key, field, (redis.call('HGET', key, field) or '') .. ids)
  redis.call('PEXPIRE', key, ARGV[2])
end
for event, ids in pairs(late) do
  redis.call('APPEND', ARGV[6] .. event, ids)
  redis.call('PEXPIRE', ARGV[6] .. event, ARGV[2])
end
