-- Admits what waits for a limit, as far as there is room: after its time has come, or after a script that left some.
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
