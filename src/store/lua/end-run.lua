-- Ends a run, once: what ended it first stands. It moves from the active runs, its function's and all, to those that ended likewise.
-- KEYS[1] run (hash: run-fields.ts)  KEYS[2] active runs (zset)  KEYS[3] pending (hash)  KEYS[4] active runs of its environment (zset)
-- KEYS[5] active runs of its function (zset)  KEYS[6] minutes in which any were created that ended likewise (zset)
-- KEYS[7] runs of its function that ended likewise (zset)  KEYS[8…] what else is kept of it
-- ARGV[1] retention (ms)  ARGV[2] the run's member in KEYS[2]  ARGV[3] run ID  ARGV[4] what precedes a stretch of time in the key of its slot
-- ARGV[5] how many runs a slot holds  ARGV[6] what precedes a run's ID in its key  ARGV[7] time (ms)
-- ARGV[8] a random number from 0 to 1  ARGV[9…] fields and values to set
-- Returns 1 when this ended it, 0 when it had ended before or is not there.
local TRIMMED_AT_ONCE = 8
-- As in run-slots.ts.
local MINUTE_MS = 60000
local SLOTS_MS = { MINUTE_MS, 1000, 50 }

local status, queuedAt = unpack(redis.call('HMGET', KEYS[1], 's', 'q'))
if status ~= 'Queued' and status ~= 'Running' then
  return 0
end

-- Members of `list` are removed when what they name has expired: of those whose score is at most `upTo`, a few are looked at.
local function trim(list, upTo, prefix)
  local old = redis.call('ZCOUNT', list, '-inf', upTo)
  if old > 0 then
    local first = math.floor(ARGV[8] * math.max(1, old - TRIMMED_AT_ONCE + 1))
    for _, member in ipairs(redis.call('ZRANGE', list, first, first + TRIMMED_AT_ONCE - 1)) do
      if redis.call('EXISTS', prefix .. member) == 0 then
        redis.call('ZREM', list, member)
      end
    end
  end
end

redis.call('HDEL', KEYS[1], 'error')
redis.call('HSET', KEYS[1], unpack(ARGV, 9))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('DEL', KEYS[3])
redis.call('ZREM', KEYS[4], ARGV[3])
redis.call('ZREM', KEYS[5], ARGV[3])
redis.call('ZADD', KEYS[7], queuedAt, ARGV[3])
for i = 7, #KEYS do
  redis.call('PEXPIRE', KEYS[i], ARGV[1])
end
-- Runs are listed by when they were created and expire by when they ended.
local oldest = ARGV[7] - ARGV[1]
trim(KEYS[7], oldest, ARGV[6])

-- The first slot that has room; the last has room for any number.
local slots = {}
for i, length in ipairs(SLOTS_MS) do
  slots[i] = ARGV[4] .. length .. ':' .. queuedAt - queuedAt % length
  if i < #SLOTS_MS and redis.call('LLEN', slots[i]) < tonumber(ARGV[5]) then
    break
  end
end
redis.call('RPUSH', slots[#slots], ARGV[3] .. queuedAt % MINUTE_MS)
-- A slot lives as long as its runs, and at most a minute longer, so that not every run renews it. It never outlives one that has to be full
-- for it to be found, nor the list of minutes: it is renewed first, and with it all of those.
if redis.call('PTTL', slots[#slots]) < tonumber(ARGV[1]) then
  local minute = queuedAt - queuedAt % MINUTE_MS
  redis.call('ZADD', KEYS[6], minute, minute)
  for i = #slots, 1, -1 do
    redis.call('PEXPIRE', slots[i], ARGV[1] + MINUTE_MS)
  end
  redis.call('PEXPIRE', KEYS[6], ARGV[1] + MINUTE_MS)
  trim(KEYS[6], oldest - MINUTE_MS, ARGV[4] .. MINUTE_MS .. ':')
end
return 1
