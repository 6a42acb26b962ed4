-- Admits a call, or adds it to its backlog. Idempotent.
-- KEYS: admissions (hash); all others have its hash tag
-- ARGV: prefix of keys, time until an admission is checked (ms), call, number of the job's executions, score (ms: the lower, the earlier;
--       among equal scores, the call whose name sorts first), backlog, data stored with the backlog as JSON: {e: environment,
--       f: function, v: values of keys, l: limits, each [ID, kind, limit, interval, tolerance]}.
--       Positional: this runs for every call with limits.
-- Returns {1 if it is admitted, calls that are admitted, throttles with the time of the next start, limits with more to admit}
-- (lib/admission.lua).
local prefix, check_ms = ARGV[1], tonumber(ARGV[2])
local budget = 200
local GOES_BEFORE_MS = 1000000000
-- @include flow-control/lua/lib/admission.lua
local entry, token, score, backlog, info_text = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[7]

local admission, of_run = unpack(redis.call('HMGET', admissions, entry, run_of(entry)))
if admission then
  -- A check in progress then no longer returns the permits of the call.
  redis.call('ZADD', checks, math.floor(now + check_ms), entry)
  if token ~= '1' then
    redis.call('HSET', admissions, entry, token .. string.sub(admission, string.find(admission, '\n', 1, true), -1))
  end
  return { 1, {}, {}, {} }
end
-- This is the lost first call of a run that already has its permits. It goes before the calls that wait for permits.
if of_run and string.find(info_text, '"r"', 1, true) then
  score = score - GOES_BEFORE_MS
end
local key = backlog_key(backlog)
local is_empty = redis.call('EXISTS', key) == 0
local info = is_empty and cjson.decode(info_text)
if is_empty and not held_back_by(entry, score, backlog, info) then
  take(entry, info, token)
  return { 1, {}, {}, {} }
end
local is_changed = redis.call('GET', info_key(backlog)) ~= info_text
if is_changed then
  redis.call('SET', info_key(backlog), info_text)
end
if redis.call('ZADD', key, 'NX', score, entry) == 1 then
  info = info or cjson.decode(info_text)
  count_waiting(info, backlog, 1)
end
-- All others wait behind the first call.
if is_changed or redis.call('ZRANGE', key, 0, 0)[1] == entry then
  retry(backlog)
end
return { redis.call('HEXISTS', admissions, entry), result() }
