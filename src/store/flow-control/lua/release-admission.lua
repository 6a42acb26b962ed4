-- Returns the permits of an ended call or run, and admits calls that wait for them. Idempotent.
-- KEYS: admissions (hash); all others have its hash tag
-- ARGV: prefix of keys, time until an admission is checked (ms), call or run, number of the job's executions: nothing is returned if
-- another execution has the call now; '': whichever has it; optionally, end of a check's claim: if the call was admitted again since
-- then, it keeps its permits
-- Returns {calls that are admitted, throttles with the time of the next start, limits with more to admit} (lib/admission.lua).
local prefix, check_ms = ARGV[1], tonumber(ARGV[2])
local budget = 200
-- @include flow-control/lua/lib/admission.lua
local entry, token, checked_until = ARGV[3], ARGV[4], ARGV[5]

local admission = redis.call('HGET', admissions, entry)
if not admission then
  return { {}, {}, {} }
end
local holder, _, _, limits = string.match(admission, '^(.-)\n(.-)\n(.*)\n([^\n]*)$')
if token ~= '' and holder ~= token then
  return { {}, {}, {} }
end
if checked_until and redis.call('ZSCORE', checks, entry) ~= checked_until then
  return { {}, {}, {} }
end
redis.call('HDEL', admissions, entry)
redis.call('ZREM', checks, entry)
for limit in string.gmatch(limits, '%S+') do
  redis.call('SREM', limit_key(limit), entry)
end
for limit in string.gmatch(limits, '%S+') do
  advance(limit)
end
return { result() }
