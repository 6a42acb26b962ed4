-- Ends a run, once: what ended it first stands. It moves from the active runs, its function's and all, to those that ended likewise.
-- KEYS[1] run (hash: run-fields.ts)  KEYS[2] active runs (zset)  KEYS[3] those of its environment (zset)  KEYS[4] those of its function (zset)
-- KEYS[5] runs of its function that ended likewise (zset)  KEYS[6] minutes in which any were created that ended likewise (zset)
-- ARGV[1] run ID  ARGV[2] retention (ms)  ARGV[3] the run's member in KEYS[2]  ARGV[4] time (ms)
-- ARGV[5] what precedes a stretch of time in the key of its slot  ARGV[6] how many runs a slot holds  ARGV[7…] fields and values to set
-- Returns {1, count of its finished steps, those that had begun: step, JSON, step, JSON, …} when this ended it, {0} when it had ended before or is
-- not there.
local TRIMMED_AT_ONCE = 8
-- As in ended-run-index.ts.
local MINUTE_MS = 60000
local SLOTS_MS = { MINUTE_MS, 1000, 50 }

local status, queuedAt, had_failed = unpack(redis.call('HMGET', KEYS[1], 's', 'q', 'error'))
if status ~= 'Queued' and status ~= 'Running' then
  return {0}
end
local done = redis.call('LLEN', KEYS[1] .. ':stack')
local begun = redis.call('HGETALL', KEYS[1] .. ':pending')

-- Members of `list` are removed when what they name has expired: of those whose score is at most `upTo`, a few are looked at.
local function trim(list, upTo, prefix)
  local old = redis.call('ZCOUNT', list, '-inf', upTo)
  if old > 0 then
    -- Chance enough: the clock.
    local first = ARGV[4] % math.max(1, old - TRIMMED_AT_ONCE + 1)
    for _, member in ipairs(redis.call('ZRANGE', list, first, first + TRIMMED_AT_ONCE - 1)) do
      if redis.call('EXISTS', prefix .. member) == 0 then
        redis.call('ZREM', list, member)
      end
    end
  end
end

if had_failed then
  redis.call('HDEL', KEYS[1], 'error')
end
redis.call('HSET', KEYS[1], unpack(ARGV, 7))
redis.call('ZREM', KEYS[2], ARGV[3])
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('ZADD', KEYS[5], queuedAt, ARGV[1])
-- Parts of the run (keyspace.ts).
redis.call('DEL', KEYS[1] .. ':pending')
remove_waits(KEYS[1])
for _, key in ipairs({ KEYS[1], KEYS[5], KEYS[1] .. ':memos', KEYS[1] .. ':stack', KEYS[1] .. ':history' }) do
  redis.call('PEXPIRE', key, ARGV[2])
end
-- Runs are listed by when they were created and expire by when they ended.
local oldest = ARGV[4] - ARGV[2]
trim(KEYS[5], oldest, string.sub(KEYS[1], 1, -1 - #ARGV[1]))

-- The first slot that has room; the last has room for any number.
local slots = {}
for i, length in ipairs(SLOTS_MS) do
  slots[i] = ARGV[5] .. length .. ':' .. queuedAt - queuedAt % length
  if i < #SLOTS_MS and redis.call('LLEN', slots[i]) < tonumber(ARGV[6]) then
    break
  end
end
redis.call('RPUSH', slots[#slots], ARGV[1] .. queuedAt % MINUTE_MS)
-- A slot lives as long as its runs, and at most a minute longer, so that not every run renews it. It never outlives one that has to be full
-- for it to be found, nor the list of minutes: it is renewed first, and with it all of those.
if redis.call('PTTL', slots[#slots]) < tonumber(ARGV[2]) then
  local minute = queuedAt - queuedAt % MINUTE_MS
  redis.call('ZADD', KEYS[6], minute, minute)
  for i = #slots, 1, -1 do
    redis.call('PEXPIRE', slots[i], ARGV[2] + MINUTE_MS)
  end
  redis.call('PEXPIRE', KEYS[6], ARGV[2] + MINUTE_MS)
  trim(KEYS[6], oldest - MINUTE_MS, ARGV[5] .. MINUTE_MS .. ':')
end
return {1, done, begun}
