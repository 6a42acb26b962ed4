-- Reads the metadata of events without their payloads, which may be large.
-- KEYS: bucket (hash)
-- ARGV: fields of the events
-- Returns the second line of each event's text; false where the event is missing or has an overflow key.
local lines = {}
for i, field in ipairs(ARGV) do
  local text = redis.call('HGET', KEYS[1], field)
  local line_break = text and string.find(text, '\n', 1, true)
  lines[i] = line_break and string.sub(text, line_break + 1) or false
end
return lines
