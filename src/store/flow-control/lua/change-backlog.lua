-- Changes limits of a backlog that keep their IDs, and admits the calls that the new limits permit.
-- KEYS: admissions (hash); all others have its hash tag
-- ARGV: prefix of keys, time until an admission is checked (ms), backlog, its data as JSON (admit.lua)
-- Returns {calls that are admitted, throttles with the time of the next start, limits with more to admit} (lib/admission.lua).
local prefix, check_ms = ARGV[1], tonumber(ARGV[2])
local budget = 200
-- @include flow-control/lua/lib/admission.lua
local backlog, info = ARGV[3], ARGV[4]

if redis.call('EXISTS', backlog_key(backlog)) == 1 then
  redis.call('SET', info_key(backlog), info)
  retry(backlog)
end
return { result() }
