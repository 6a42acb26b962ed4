-- What is known of events besides their payloads, which may be large.
-- KEYS[1] bucket (hash)  ARGV fields
-- Returns the second line of each event's text; false where the event is not there, or kept apart.
local lines = {}
for i, field in ipairs(ARGV) do
  local text = redis.call('HGET', KEYS[1], field)
  local cut = text and string.find(text, '\n', 1, true)
  lines[i] = cut and string.sub(text, cut + 1) or false
end
return lines
