-- Reads all data of runs that may be archived: those that have ended, were created before a time, and belong to the given event.
-- KEYS: what precedes the run ID in the key of a run
-- ARGV: time (ms), maximum bytes (the run that exceeds it is the last), then for each run: its ID, the event ID
-- Returns for each examined run: {} if it is missing; {its status, the time of its creation} if it may not be archived; otherwise
-- {its status, the
-- time of its creation, its fields, memos, stack, history, metadata, a digest of the metadata, fields of its log}.
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
    local metadata = redis.call('HGETALL', run .. SUFFIX_METADATA)
    local logs = redis.call('HGETALL', run .. SUFFIX_LOGS)
    if #logs > 0 then
      bytes = bytes + redis.call('HGET', run .. SUFFIX_LOGS, 'b')
    end
    bytes = bytes + redis.call('HSTRLEN', run, FIELD_OUTPUT) + tonumber(memo_bytes or 0)
    runs[#runs + 1] = {
      status,
      queued_at,
      redis.call('HGETALL', run),
      redis.call('HGETALL', run .. SUFFIX_MEMOS),
      redis.call('LRANGE', run .. SUFFIX_STACK, 0, -1),
      redis.call('LRANGE', run .. SUFFIX_HISTORY, 0, -1),
      metadata,
      #metadata > 0 and redis.sha1hex(table.concat(metadata, '\n')) or '',
      logs,
    }
  end
end
return runs
