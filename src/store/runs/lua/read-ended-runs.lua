-- @include runs/lua/lib/kept-parts.lua
-- Reads all data of runs that may be archived: those that have ended, were created before a time, and belong to the given event.
-- KEYS: what precedes the run ID in the key of a run
-- ARGV: time (ms), maximum bytes (the run that exceeds it is the last), then for each run: its ID, the event ID
-- Returns for each examined run: {} if it is missing; {its status, the time of its creation} if it may not be archived; otherwise
-- {its status, the time of its creation, its fields, the version of its parts, then each part of KEPT_PARTS}.
local prefix = KEYS[1]
local before, bytes_max = tonumber(ARGV[1]), tonumber(ARGV[2])
local FIRST_RUN = 3
local ENDED = { Completed = true, Failed = true, Cancelled = true }

local runs, bytes = {}, 0
for i = FIRST_RUN, #ARGV, 2 do
  if bytes > bytes_max then
    break
  end
  local run = prefix .. ARGV[i]
  local status, queued_at, event_id, memo_bytes = unpack(
    redis.call('HMGET', run, FIELD_STATUS, FIELD_QUEUED_AT, FIELD_EVENT_ID, FIELD_MEMO_BYTES)
  )
  if not status then
    runs[#runs + 1] = {}
  elseif not ENDED[status] or tonumber(queued_at) >= before or event_id ~= ARGV[i + 1] then
    runs[#runs + 1] = { status, queued_at }
  else
    bytes = bytes + redis.call('HSTRLEN', run, FIELD_OUTPUT) + tonumber(memo_bytes or 0)
    local versions, contents = {}, {}
    for n, part in ipairs(KEPT_PARTS) do
      contents[n] = read_part(run, part)
      versions[n] = version_of(run, part, contents[n])
      local suffix, _, _, bytes_in = unpack(part)
      if bytes_in ~= '-' and #contents[n] > 0 then
        bytes = bytes + redis.call('HGET', run .. suffix, bytes_in)
      end
    end
    runs[#runs + 1] = { status, queued_at, redis.call('HGETALL', run), table.concat(versions, ' '), unpack(contents) }
  end
end
return runs
