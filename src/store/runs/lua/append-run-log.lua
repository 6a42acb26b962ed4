-- Appends a batch of lines to the log of a run, once. Lines that do not fit are counted.
-- KEYS: run (hash)
-- ARGV: ID of the batch, now (ms), lines that the app dropped, maximum lines, bytes and batches, maximum batches in a window of time,
--       length of the window (ms), then the lines, as JSON
-- Returns {"gone"}: there is no such run; {"busy"}: too many batches at once; {"known"}: the batch was stored before, or there were
--         too many; {"stored", function ID, event ID, status of the run}.
local run = KEYS[1]
local batch, now, dropped, max_lines, max_bytes, max_batches, max_in_window, window = unpack(ARGV, 1, 8)
local FIRST_LINE = 9
local logs = run .. SUFFIX_LOGS
local function_id, event_id, status = unpack(redis.call('HMGET', run, FIELD_FUNCTION_ID, FIELD_EVENT_ID, FIELD_STATUS))
if not status then
  return { 'gone' }
end

local lines, bytes, window_start, in_window, batches, known =
  unpack(redis.call('HMGET', logs, 'n', 'b', 'w', 'c', 'm', 'i:' .. batch))
lines, bytes, batches = tonumber(lines or 0), tonumber(bytes or 0), tonumber(batches or 0)
if known or batches >= tonumber(max_batches) then
  return { 'known' }
end
if not window_start or tonumber(now) - tonumber(window_start) >= tonumber(window) then
  window_start, in_window = now, 0
end
if tonumber(in_window) >= tonumber(max_in_window) then
  return { 'busy' }
end

local left_out = tonumber(dropped)
for i = FIRST_LINE, #ARGV do
  if lines >= tonumber(max_lines) or bytes + #ARGV[i] > tonumber(max_bytes) then
    left_out = left_out + #ARGV - i + 1
    break
  end
  redis.call('HSET', logs, lines, ARGV[i])
  lines, bytes = lines + 1, bytes + #ARGV[i]
end
redis.call('HSET', logs, 'n', lines, 'b', bytes, 'w', window_start, 'c', in_window + 1, 'm', batches + 1, 'i:' .. batch, 1)
if left_out > 0 then
  redis.call('HINCRBY', logs, 'd', left_out)
end
-- The log of an ended run expires with the run.
local left = redis.call('PTTL', run)
if left > 0 then
  redis.call('PEXPIRE', logs, left)
end
return { 'stored', function_id, event_id, status }
