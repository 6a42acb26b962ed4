-- Gives back the limits of a call that has ended, or of a run, and admits what waits for them. Repeating it changes nothing.
-- KEYS: admissions (hash); all others have its hash tag
-- ARGV: prefix of keys, time until an admission is checked (ms), call or run, number of the job's executions: if another one has the call now, nothing is
--       given back; '': whichever has it; optionally, time until which a check has claimed it: if it was admitted again since then, it keeps its places
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
