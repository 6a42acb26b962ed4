-- Adds the memos of finished steps to an active run that is not packed. First write wins: a stored memo never changes.
-- `memo_bytes`: this field of the run; `steps`: number of steps; `first`: position of their arguments, for each step its ID, memo (JSON),
-- history entry (JSON) or ''
-- Returns outcome, length of the stack, and the new value of `memo_bytes`, which the caller stores; nil: no step is new. Outcomes:
--   'stored': all steps, now or before
--   'steps', 'bytes': too many, so none is stored
local ARGS_OF_STEP = 3
local function add_memos(run, memo_bytes, steps, first, max_steps, max_bytes)
  local memos, stack = run .. SUFFIX_MEMOS, run .. SUFFIX_STACK
  local length = redis.call('LLEN', stack)
  local ids, new_memos, entries, is_new, bytes = {}, {}, {}, {}, tonumber(memo_bytes or 0)
  for i = first, first + steps * ARGS_OF_STEP - 1, ARGS_OF_STEP do
    local step, memo, entry = ARGV[i], ARGV[i + 1], ARGV[i + 2]
    -- A repeated step counts once.
    if not is_new[step] and redis.call('HEXISTS', memos, step) == 0 then
      is_new[step] = true
      ids[#ids + 1] = step
      new_memos[#new_memos + 1], new_memos[#new_memos + 2] = step, memo
      bytes = bytes + #memo
      if entry ~= '' then
        entries[#entries + 1] = entry
      end
    end
  end
  if #ids == 0 then
    return 'stored', length
  end
  if length + #ids > tonumber(max_steps) then
    return 'steps', length
  end
  if bytes > tonumber(max_bytes) then
    return 'bytes', length
  end
  redis.call('HSET', memos, unpack(new_memos))
  length = redis.call('RPUSH', stack, unpack(ids))
  redis.call('HDEL', run .. SUFFIX_PENDING, unpack(ids))
  if #entries > 0 then
    redis.call('RPUSH', run .. SUFFIX_HISTORY, unpack(entries))
  end
  return 'stored', length, bytes
end
