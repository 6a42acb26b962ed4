-- @include runs/lua/lib/run-contents.lua
-- Reads some of the alarms of an environment's offloaded runs.
-- KEYS: offloaded runs (hash)
-- ARGV: cursor as of HSCAN, about how many to read, time (ms)
-- Returns {cursor, how many were read, alarms that are due: run ID, time (ms), …}.
local offloaded_runs = KEYS[1]
local cursor, count, time = unpack(ARGV)
-- Alarms compare like their times: a million are read in a second and a half.
local after = alarm_time(tonumber(time) + 1)
local next_cursor, alarms = unpack(redis.call('HSCAN', offloaded_runs, cursor, 'COUNT', count))
local due = {}
for i = 1, #alarms, 2 do
  if alarms[i + 1] < after then
    due[#due + 1] = alarms[i]
    due[#due + 1] = string.format('%d', read_alarm(alarms[i + 1]))
  end
end
return { next_cursor, #alarms / 2, due }
