-- A timer check: a timer job that handles what is due for a function. Its key holds the number of timer checks so far and, once
-- the job is enqueued, the time of the next one (ms): `<number>:<time>`. A timer check that is overdue by LOST_MS is considered
-- lost, and replaced.
local LOST_MS = 30000
-- Longer than any debounce takes.
local LOOK_TTL_MS = 777600000

-- Returns the number of timer checks so far, and the time of the next one or nil.
local function read_timer_check(key)
  local number, time = string.match(redis.call('GET', key) or '0:', '^(%d+):(%d*)$')
  return number or '0', tonumber(time or '')
end

local function write_timer_check(key, number, time)
  redis.call('SET', key, string.format('%.0f:%s', number, time and string.format('%.0f', time) or ''), 'PX', LOOK_TTL_MS)
end

-- wanted: when something is due (ms), or nil. Returns {time, delay (ms), number of timer checks so far} of the timer check to
-- schedule; {}: none.
local function timer_check_to_schedule(key, now, wanted)
  if not wanted then
    return {}
  end
  local number, time = read_timer_check(key)
  if time and time <= wanted and time > now - LOST_MS then
    return {}
  end
  return { wanted, math.max(0, wanted - now), tonumber(number) }
end

-- The lowest score plus `ms`, or nil.
local function first_after(zset, ms)
  local _, score = unpack(redis.call('ZRANGE', zset, 0, 0, 'WITHSCORES'))
  return score and tonumber(score) + ms
end

local function earliest(a, b)
  return a and b and math.min(a, b) or a or b
end
