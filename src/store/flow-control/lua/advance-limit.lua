-- Admits calls that wait for a limit, as many as fit: when a throttle's time has come, or to continue after a script that
-- stopped early.
-- KEYS: admissions (hash); all others have its hash tag
-- ARGV: prefix of keys, time until an admission is checked (ms), limit
-- Returns {calls that are admitted, throttles with the time of the next start, limits with more to admit} (lib/admission.lua).
local prefix, check_ms = ARGV[1], tonumber(ARGV[2])
local budget = 200
-- @include flow-control/lua/lib/admission.lua
local limit = ARGV[3]
advance(limit)
if redis.call('EXISTS', waiters_key(limit)) == 0 then
  redis.call('ZREM', checks, '!' .. limit)
end
return { result() }
