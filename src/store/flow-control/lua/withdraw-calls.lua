-- Removes calls from their backlog because their run has ended or they now wait in another backlog.
-- KEYS: admissions (hash); all others have its hash tag
-- ARGV: prefix of keys, time until an admission is checked (ms), backlog, calls
-- Returns {calls that are admitted, throttles with the time of the next start, limits with more to admit} (lib/admission.lua).
local prefix, check_ms = ARGV[1], tonumber(ARGV[2])
local budget = 200
-- @include flow-control/lua/lib/admission.lua
local backlog = ARGV[3]

local text = redis.call('GET', info_key(backlog))
local removed = text and redis.call('ZREM', backlog_key(backlog), unpack(ARGV, 4)) or 0
if removed > 0 then
  count_waiting(cjson.decode(text), backlog, -removed)
  -- Another call may be first now.
  retry(backlog)
end
return { result() }
