-- Ends a sleep, if it has not ended, and its run does nothing else.
-- `of`: the fields of the run, which is not packed.
-- Returns false if store-memo.lua has to end the sleep, because it knows the steps beside the sleep.
local function end_sleep(run, step, now, of)
  local pending = run .. SUFFIX_PENDING
  local pending_step = redis.call('HGET', pending, step)
  if not pending_step then
    return true
  end
  local is_json, sleeps = pcall(cjson.decode, pending_step)
  local memo_bytes = tonumber(of[FIELD_MEMO_BYTES] or 0)
  if not is_json or sleeps.op ~= 'Sleep' or sleeps.group or redis.call('HLEN', pending) > 1 or memo_bytes > MAX_CALL_BYTES then
    return false
  end
  local MEMO = 'null'
  of[FIELD_MEMO_BYTES] = tostring(memo_bytes + #MEMO)
  redis.call('HSET', run, FIELD_MEMO_BYTES, of[FIELD_MEMO_BYTES])
  redis.call('HSET', run .. SUFFIX_MEMOS, step, MEMO)
  redis.call('DEL', pending)
  redis.call('RPUSH', run .. SUFFIX_STACK, step)
  -- The entry has the form of history-entries.ts.
  local since = string.format('%d', sleeps.since)
  local entry = { FINISHED_STEP, since, now - since, 'null', 'null', cjson.encode(step), cjson.encode(sleeps.name), '"Sleep"' }
  redis.call('RPUSH', run .. SUFFIX_HISTORY, '[' .. table.concat(entry, ',') .. ']')
  return true
end
