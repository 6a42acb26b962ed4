-- Admits calls: gives each all of its limits, or none. Calls with the same limits wait in one backlog; a backlog that is not empty is in
-- the list of the one limit that holds back its first call. When that limit has room, the backlog with the oldest first call continues.
-- Uses the locals `prefix` (of keys), `check_ms` (until an admission is checked), and `budget` (calls and backlogs that one script
-- handles).
local granted, wakes, unfinished = {}, {}, {}
local seconds, microseconds = unpack(redis.call('TIME'))
local now = seconds * 1000 + microseconds / 1000
-- Tolerance for the rounding of summed intervals.
local EPSILON_MS = 0.000001

local function backlog_key(id) return prefix .. ':backlog:' .. id end
local function info_key(id) return prefix .. ':backlog-info:' .. id end
local function limit_key(id) return prefix .. ':limit:' .. id end
local function tat_key(id) return prefix .. ':throttle:' .. id end
local function waiters_key(id) return prefix .. ':limit-backlogs:' .. id end
local admissions, checks, held_backlogs = prefix .. ':admissions', prefix .. ':admission-checks', prefix .. ':held-backlogs'

local function function_backlogs_key(info)
  return prefix .. ':function-backlogs:' .. info.e .. ':' .. info.f
end

-- Changes the number of waiting calls of the backlog and of its function.
local function count_waiting(info, backlog, by)
  local counts, total = function_backlogs_key(info), prefix .. ':waiting-calls'
  if tonumber(redis.call('ZINCRBY', counts, by, backlog)) <= 0 then
    redis.call('ZREM', counts, backlog)
  end
  local name = info.e .. ' ' .. info.f
  if redis.call('HINCRBY', total, name, by) <= 0 then
    redis.call('HDEL', total, name)
  end
end

local function run_of(entry)
  return string.match(entry, '^[^/]+')
end

-- How far the TAT of a throttle (GCRA: when the next start is due at an even rate) is ahead, in ms. Stored as seconds and milliseconds: a
-- single number is not exact enough for short intervals, whose rounding errors add up.
local function ahead_of(id)
  local s, ms = string.match(redis.call('GET', tat_key(id)) or '0 0', '^(%S+) (%S+)$')
  return math.max(0, (tonumber(s) - seconds) * 1000 + (tonumber(ms) - microseconds / 1000))
end

local function set_ahead(id, ahead)
  local ms = microseconds / 1000 + ahead
  local whole = math.floor(ms / 1000)
  local tat = string.format('%.0f %.9f', seconds + whole, ms - whole * 1000)
  redis.call('SET', tat_key(id), tat, 'PX', math.ceil(ahead) + 1000)
end

-- ID of the zero limit, if the function is held; a worker may not know yet.
local function held_limit(info)
  local mark = info.s and redis.call('HGET', prefix .. ':held-functions:' .. info.e, info.f)
  -- A mark with a time applies to some runs only; load-call.lua decides which.
  return mark and not string.find(mark, ' ', 1, true) and mark
end

-- Whether the limit has no room left.
local function is_full(limit)
  local id, kind, size, interval, tolerance = unpack(limit)
  if kind == 't' then
    local ahead = ahead_of(id)
    if ahead <= tolerance + EPSILON_MS then
      return false
    end
    wakes[id] = now + ahead - tolerance
    return true
  end
  return redis.call('SCARD', limit_key(id)) >= size
end

-- Whether another backlog has waited longer for the limit. Backlogs with equal scores are not behind each other: Lua's order of texts
-- depends on the locale.
local function is_behind(limit, backlog, score)
  local first, first_score = unpack(redis.call('ZRANGE', waiters_key(limit[1]), 0, 0, 'WITHSCORES'))
  return first ~= nil and first ~= backlog and tonumber(first_score) < score
end

-- Whether the call's run already holds its permit because its first call was lost after its admission. This call then waits for
-- no other run.
local function has_permit(limit, entry)
  return limit[2] == 'r' and redis.call('SISMEMBER', limit_key(limit[1]), run_of(entry)) == 1
end

-- Takes all limits for the call.
local function take(entry, info, token)
  local of_call, of_run, run = {}, {}, run_of(entry)
  for _, limit in ipairs(info.l) do
    local id, kind, _, interval = unpack(limit)
    if kind == 't' then
      set_ahead(id, ahead_of(id) + interval)
    elseif kind == 'r' then
      redis.call('SADD', limit_key(id), run)
      of_run[#of_run + 1] = id
    else
      redis.call('SADD', limit_key(id), entry)
      of_call[#of_call + 1] = id
    end
  end
  local check_at = math.floor(now + check_ms)
  redis.call('HSET', admissions, entry, table.concat({ token, info.e, info.f, table.concat(of_call, ' ') }, '\n'))
  redis.call('ZADD', checks, check_at, entry)
  if #of_run > 0 then
    -- Under an earlier configuration the run may hold other limits, which are returned together with these.
    local former = redis.call('HGET', admissions, run)
    for id in string.gmatch(former and string.match(former, '[^\n]*$') or '', '%S+') do
      of_run[#of_run + 1] = id
    end
    redis.call('HSET', admissions, run, table.concat({ '', info.e, info.f, table.concat(of_run, ' ') }, '\n'))
    redis.call('ZADD', checks, check_at, run)
  end
end

-- The first limit that holds back the call, and whether it is full; if not, other backlogs have waited longer for it.
local function held_back_by(entry, score, backlog, info)
  local held = held_limit(info)
  if held then
    return held, true
  end
  for _, limit in ipairs(info.l) do
    if not has_permit(limit, entry) then
      if is_full(limit) then
        return limit[1], true
      end
      if is_behind(limit, backlog, score) then
        return limit[1], false
      end
    end
  end
end

-- Admits calls of the backlog in order, as far as there is room. The backlog must not be in the list of a limit. Returns the limit that
-- holds back the rest, and whether that limit is full.
local function admit_backlog(backlog)
  local text = redis.call('GET', info_key(backlog))
  if not text then
    return
  end
  local info = cjson.decode(text)
  while true do
    local entry, score = unpack(redis.call('ZRANGE', backlog_key(backlog), 0, 0, 'WITHSCORES'))
    if not entry then
      redis.call('DEL', info_key(backlog))
      return
    end
    score = tonumber(score)
    -- The call may have been admitted from a backlog of an earlier configuration.
    local is_admitted = redis.call('HEXISTS', admissions, entry) == 1
    local limit, full = nil, false
    if not is_admitted then
      limit, full = held_back_by(entry, score, backlog, info)
      -- The next script continues with the rest.
      if not limit and budget <= 0 then
        limit = info.l[1][1]
        unfinished[limit] = true
      end
    end
    if limit then
      redis.call('ZADD', waiters_key(limit), score, backlog)
      redis.call('HSET', held_backlogs, backlog, limit)
      return limit, full
    end
    budget = budget - 1
    redis.call('ZREM', backlog_key(backlog), entry)
    count_waiting(info, backlog, -1)
    if not is_admitted then
      take(entry, info, '1')
      for _, part in ipairs({ info.e, info.f, entry }) do
        granted[#granted + 1] = part
      end
    end
  end
end

-- Admits calls of the backlogs that wait for the limit, the one with the oldest first call first.
local function advance(limit)
  local has_waited = false
  while true do
    local backlog = redis.call('ZRANGE', waiters_key(limit), 0, 0)[1]
    if not backlog then
      if has_waited then
        redis.call('ZREM', checks, '!' .. limit)
      end
      return
    end
    has_waited = true
    if budget <= 0 then
      unfinished[limit] = true
      return
    end
    budget = budget - 1
    redis.call('ZREM', waiters_key(limit), backlog)
    redis.call('HDEL', held_backlogs, backlog)
    local by, full = admit_backlog(backlog)
    -- Another function may have a larger limit for the same calls.
    if by == limit and full and redis.call('ZRANGE', waiters_key(limit), 0, 0)[1] == backlog then
      return
    end
  end
end

-- Tries the backlog again because its first call or its limits have changed.
local function retry(backlog)
  local limit = redis.call('HGET', held_backlogs, backlog)
  if limit then
    redis.call('ZREM', waiters_key(limit), backlog)
    redis.call('HDEL', held_backlogs, backlog)
  end
  admit_backlog(backlog)
  -- The calls behind it may no longer have to wait.
  if limit then
    advance(limit)
  end
end

-- Returns the admitted calls: environment, function, entry, …; throttles: limit, time of the next start (ms), …; limits with more to
-- admit.
local function result()
  local times, more = {}, {}
  for id in pairs(unfinished) do
    more[#more + 1] = id
    -- A check continues if this process dies first.
    redis.call('ZADD', checks, math.floor(now), '!' .. id)
  end
  for id, time in pairs(wakes) do
    if redis.call('EXISTS', waiters_key(id)) == 1 then
      times[#times + 1] = id
      times[#times + 1] = math.ceil(time)
      -- A check continues if the timer is lost.
      redis.call('ZADD', checks, math.ceil(time) + 5000, '!' .. id)
    end
  end
  return granted, times, more
end
