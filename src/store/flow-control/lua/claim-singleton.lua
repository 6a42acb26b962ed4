-- @include redis/lua/lib/now.lua
-- Makes a run the holder of a singleton, if there is no holder or the expected one.
-- KEYS: holder (string: run ID, time (ms), and IDs of the runs before it that are not certainly cancelled, separated by spaces)
-- ARGV: run ID, ID of the holder to take over from or ''
-- Returns {1, replaced runs…}: the run holds it, now or before; {0, holder, ms since it became the holder}: another run does.
local holder_key = KEYS[1]
local run_id, expected = ARGV[1], ARGV[2]

local now = time_now()
local held = redis.call('GET', holder_key)
local words = {}
for word in string.gmatch(held or '', '%S+') do
  words[#words + 1] = word
end
local holder, since = words[1], tonumber(words[2])

if holder and holder ~= run_id and holder ~= expected then
  return { 0, holder, math.max(0, now - since) }
end
local replaced = { unpack(words, 3) }
if holder ~= run_id then
  if holder then
    table.insert(replaced, 1, holder)
  end
  redis.call('SET', holder_key, table.concat({ run_id, string.format('%.0f', now), unpack(replaced) }, ' '))
end
return { 1, unpack(replaced) }
