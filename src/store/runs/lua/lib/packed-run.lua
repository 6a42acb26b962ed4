-- Packed runs. A run that sleeps or waits for long keeps its steps and history in fields `0`, `1`, … of its own hash: four keys fewer, and
-- so short that Redis keeps the hash compact. Nothing but this file knows the form. A script that changes steps unpacks them first
-- (packed_runs().unpack, if it has FIELD_PACKED); history may be appended to a packed run, and comes after what is packed.
--
-- The form: version, number of finished steps, number of pending steps; then lines: history entries, ID and JSON of each pending
-- step, ID and memo of each finished step. JSON has no control characters, so control characters replace frequent texts. They are
-- restored in reverse order:
-- 1. TWIN: the entry of an attempt, and that of the step that it ran, which begins alike.
-- 2. HASHED before a step's name: its ID, if that is the hash of the name, as SDKs make it. ID and a byte: an ID that occurred before.
-- 3. TIME: milliseconds, as the difference from the time before; the first from the run's creation.
-- 4. WORDS.
--
-- All of this is in one function: scripts that run for every step would otherwise create it each time.
-- Returns read(run), read_fields(fields), unpack(run) and pack(run).
local function packed_runs()
  local VERSION = '1'
  local FIELD_BYTES = 63
  -- Larger runs are not packed: their contents outweigh their keys.
  local BYTES_MAX = 64 * FIELD_BYTES
  local TWIN, HASHED, ID, TIME = '\1', '\2', '\3', '\4'
  -- These never change within a version of the form.
  local WORDS = {
    ['{"data":'] = '\5', ['{"data":"'] = '\6', ['{"op":"'] = '\7', [',"name":"'] = '\8', [',"since":'] = '\11', [',"until":'] = '\12',
    [',"StepRun"]'] = '\14', [',"Sleep"]'] = '\15', [',"waitsFor":"'] = '\16', [',"expression":"'] = '\17',
  }
  local WORD = '[{,]"%a+"[%]:]"?'
  local ID_LENGTH = 40
  local QUOTED_ID = '"(' .. string.rep('%x', ID_LENGTH) .. ')"'
  -- The text between an ID and the name: in history entries, and in pending steps.
  local BEFORE_NAME = { ',', '\n{"op":"%a+","name":' }
  local MS = '%f[%d][1-9]' .. string.rep('%d', 12) .. '%f[%D]'
  -- The byte of an ID is ID_BASE plus its number, so it is no control character.
  local ID_BASE, IDS_MAX = 127, 128
  local SUFFIXES = { SUFFIX_STACK, SUFFIX_MEMOS, SUFFIX_PENDING, SUFFIX_HISTORY }

  -- Returns a list of IDs in the order of their first use, and a function that adds an ID and returns its number.
  local function numbered()
    local ids, number_of = {}, {}
    return ids, function(id)
      local number = number_of[id]
      if not number and #ids < IDS_MAX then
        ids[#ids + 1] = id
        number_of[id] = #ids
      end
      return number
    end
  end

  local function shorten(text, queued_at)
    local _, number = numbered()
    text = string.gsub(text, '%[0,([%d,]+)%]\n%[3,%1,"', TWIN .. '%1"')
    for _, between in ipairs(BEFORE_NAME) do
      text = string.gsub(text, QUOTED_ID .. '(' .. between .. '"([^"\\]*)")', function(id, rest, name)
        -- A name that looks like an ID may itself be replaced as an ID.
        if #name ~= ID_LENGTH and redis.sha1hex(name) == id then
          number(id)
          return HASHED .. rest
        end
      end)
    end
    text = string.gsub(text, QUOTED_ID, function(id)
      local known = number(id)
      return known and ID .. string.char(ID_BASE + known)
    end)
    local before = queued_at
    text = string.gsub(text, MS, function(time)
      local difference = time - before
      before = time
      return TIME .. string.format('%d', difference)
    end)
    return (string.gsub(text, WORD, WORDS))
  end

  local function restore(text, queued_at)
    local meanings = {}
    for word, mark in pairs(WORDS) do
      meanings[mark] = word
    end
    text = string.gsub(text, '%c', meanings)
    local before = queued_at
    text = string.gsub(text, TIME .. '(-?%d+)', function(difference)
      before = before + difference
      return string.format('%d', before)
    end)
    local ids, number = numbered()
    for _, between in ipairs(BEFORE_NAME) do
      text = string.gsub(text, HASHED .. '(' .. between .. '"([^"\\]*)")', function(rest, name)
        local id = redis.sha1hex(name)
        number(id)
        return '"' .. id .. '"' .. rest
      end)
    end
    for id in string.gmatch(text, QUOTED_ID) do
      number(id)
    end
    text = string.gsub(text, ID .. '(.)', function(byte) return '"' .. ids[string.byte(byte) - ID_BASE] .. '"' end)
    return (string.gsub(text, TWIN .. '([%d,]+)"', '[0,%1]\n[3,%1,"'))
  end

  -- Returns the steps and history as text; nil: they cannot be packed.
  local function pack_text(queued_at, stack, memos, pending, history)
    local memo_of, lines = {}, history
    for i = 1, #pending, 2 do
      lines[#lines + 1] = cjson.encode(pending[i])
      lines[#lines + 1] = pending[i + 1]
    end
    for i = 1, #memos, 2 do
      memo_of[memos[i]] = memos[i + 1]
    end
    for _, id in ipairs(stack) do
      lines[#lines + 1] = cjson.encode(id)
      lines[#lines + 1] = memo_of[id]
    end
    local bytes = 0
    for _, line in ipairs(lines) do
      bytes = bytes + #line
      if bytes > 2 * BYTES_MAX or string.find(line, '%c') then
        return nil
      end
    end
    return table.concat({ VERSION, #stack, #pending / 2, shorten(table.concat(lines, '\n'), queued_at) }, ' ')
  end

  -- Returns by suffix what the keys of these parts would have, from the fields and values of a run; nil: the run is not packed. The second
  -- value: number of fields.
  local function read_fields(fields)
    local texts, queued_at = {}, nil
    for i = 1, #fields, 2 do
      local n = tonumber(fields[i])
      if n then
        texts[n + 1] = fields[i + 1]
      elseif fields[i] == FIELD_QUEUED_AT then
        queued_at = fields[i + 1]
      end
    end
    if #texts == 0 then
      return nil
    end
    local done, begun, text = string.match(table.concat(texts), '^%w+ (%d+) (%d+) (.*)$')
    local lines = {}
    for line in string.gmatch(restore(text, queued_at) .. '\n', '(.-)\n') do
      lines[#lines + 1] = line
    end
    local first_memo = #lines - 2 * done
    local first_pending = first_memo - 2 * begun
    local stack, memos, pending, history = {}, {}, {}, {}
    for i, line in ipairs(lines) do
      local part = i > first_memo and memos or i > first_pending and pending or history
      local is_id = part ~= history and (i - first_pending) % 2 == 1
      part[#part + 1] = is_id and cjson.decode('[' .. line .. ']')[1] or line
    end
    for i = 1, done do
      stack[i] = memos[2 * i - 1]
    end
    return {
      [SUFFIX_STACK] = stack, [SUFFIX_MEMOS] = memos, [SUFFIX_PENDING] = pending, [SUFFIX_HISTORY] = history,
    }, #texts
  end

  local function read(run)
    if redis.call('HEXISTS', run, FIELD_PACKED) == 1 then
      return read_fields(redis.call('HGETALL', run))
    end
  end

  local function unpack_fields(run)
    local packed, fields = read(run)
    if not packed then
      return
    end
    local stack, history = packed[SUFFIX_STACK], packed[SUFFIX_HISTORY]
    if #stack > 0 then
      redis.call('RPUSH', run .. SUFFIX_STACK, unpack(stack))
      redis.call('HSET', run .. SUFFIX_MEMOS, unpack(packed[SUFFIX_MEMOS]))
    end
    if #packed[SUFFIX_PENDING] > 0 then
      redis.call('HSET', run .. SUFFIX_PENDING, unpack(packed[SUFFIX_PENDING]))
    end
    -- Entries that were appended meanwhile stay behind.
    for i = #history, 1, -1 do
      redis.call('LPUSH', run .. SUFFIX_HISTORY, history[i])
    end
    for i = 0, fields - 1 do
      redis.call('HDEL', run, i)
    end
  end

  -- Does nothing if the run is packed, or cannot be.
  local function pack(run)
    if redis.call('HEXISTS', run, FIELD_PACKED) == 1 then
      return
    end
    local text = pack_text(
      redis.call('HGET', run, FIELD_QUEUED_AT), redis.call('LRANGE', run .. SUFFIX_STACK, 0, -1), redis.call('HGETALL', run .. SUFFIX_MEMOS),
      redis.call('HGETALL', run .. SUFFIX_PENDING), redis.call('LRANGE', run .. SUFFIX_HISTORY, 0, -1)
    )
    if not text or #text > BYTES_MAX then
      return
    end
    for i = 0, math.ceil(#text / FIELD_BYTES) - 1 do
      redis.call('HSET', run, i, string.sub(text, i * FIELD_BYTES + 1, (i + 1) * FIELD_BYTES))
    end
    for _, suffix in ipairs(SUFFIXES) do
      redis.call('DEL', run .. suffix)
    end
  end

  return { read = read, read_fields = read_fields, unpack = unpack_fields, pack = pack }
end
