-- Packed runs. A run that sleeps or waits for long keeps its steps and history in fields `0`, `1`, … of its own hash: four keys fewer, and
-- so short that Redis keeps the hash compact. Nothing but this file knows the form. A script that changes steps unpacks them first
-- (packed_runs().unpack, if it has FIELD_PACKED); history may be appended to a packed run, and comes after what is packed.
--
-- The form: version, number of finished steps, number of pending steps, their IDs (pack_id), then memos, pending steps and history entries, one
-- a line. JSON has no control characters, so these stand for what is frequent: quoted IDs (ID_MARK), times close to the run's creation, and WORDS.
--
-- One function, because scripts that run for every step would otherwise make all of these each time.
-- Returns read(run), unpack(run) and pack(run).
local function packed_runs()
  local VERSION = '\1'
  local FIELD_BYTES = 63
  -- More is not worth it: the contents outweigh the keys.
  local BYTES_MAX = 64 * FIELD_BYTES
  local STEPS_MAX, ID_BYTES_MAX = 90, 253
  -- Instead of the length of an ID: its 20 bytes follow; it is the hash of the step's name.
  local SHA1, HASHED_NAME = 0, 255
  -- Followed by a byte that has the number of the ID.
  local ID_MARK, ID_BASE = '\2', 127
  -- The first digits of times from the second of the run's creation on, and from its 1,000 s on.
  local TIME_MARKS = { { '\3', 10, 0 }, { '\4', 10, 1 }, { '\5', 10, 2 }, { '\6', 7, 0 }, { '\7', 7, 1 } }
  -- In this order; never changed within a version.
  local WORDS = {
    { '\25', ',0]\n[3,' }, { '\26', ',"StepRun"]\n[0,' }, { '\27', '"}\n{"data":"' },
    { '\8', '{"op":"Sleep","name":"' }, { '\11', '{"op":"WaitForEvent","name":"' }, { '\12', '","until":' }, { '\14', ',"since":' },
    { '\15', ',"StepRun"]' }, { '\16', ',0,' .. ID_MARK }, { '\17', '{"data":"' }, { '\18', '{"data":' }, { '\19', '"}\n' },
    { '\20', '\n[0,' }, { '\21', '\n[3,' }, { '\22', ',"expression":"' }, { '\23', '","waitsFor":"' }, { '\24', ',"Sleep"' },
  }
  local SUFFIXES = { SUFFIX_STACK, SUFFIX_MEMOS, SUFFIX_PENDING, SUFFIX_HISTORY }

  -- Returns the marks with what they stand for.
  local function times_of(run)
    local queued_at = redis.call('HGET', run, FIELD_QUEUED_AT)
    local times = {}
    for i, mark in ipairs(TIME_MARKS) do
      times[i] = { mark[1], string.format('%d', tonumber(string.sub(queued_at, 1, mark[2])) + mark[3]) }
    end
    return times
  end

  local function replace(text, from, to)
    return (string.gsub(text, string.gsub(from, '%p', '%%%0'), to))
  end

  local function lines_of(body)
    local lines = {}
    for line in string.gmatch(body .. '\n', '(.-)\n') do
      lines[#lines + 1] = line
    end
    return lines
  end

  local function mark_of(i)
    return ID_MARK .. string.char(ID_BASE + i)
  end

  -- Returns the name of a step, from what has its marks: of a finished step from its entry, of a pending one from its own line.
  local function name_of(i, done, lines, body)
    if i > done then
      return string.match(lines[i], '"name":"([^"\\]*)"')
    end
    return string.match(body, mark_of(i) .. ',"([^"\\]*)"')
  end

  -- `name`: of the step, if known.
  local function pack_id(id, name)
    if name and redis.sha1hex(name) == id then
      return string.char(HASHED_NAME)
    end
    if #id == 40 and not string.find(id, '[^0-9a-f]') then
      return string.char(SHA1) .. string.gsub(id, '..', function(hex) return string.char(tonumber(hex, 16)) end)
    end
    return string.char(#id) .. id
  end

  -- Returns the steps and history as text; nil: they cannot be packed.
  local function pack_text(run, stack, memos, pending, history)
    local done, begun = #stack, #pending / 2
    if done + begun > STEPS_MAX or #memos ~= 2 * done then
      return nil
    end
    local memo_of, ids, lines = {}, {}, {}
    for i = 1, #memos, 2 do
      memo_of[memos[i]] = memos[i + 1]
    end
    for i, id in ipairs(stack) do
      ids[i], lines[i] = id, memo_of[id]
      if not lines[i] then
        return nil
      end
    end
    for i = 1, #pending, 2 do
      ids[#ids + 1], lines[#lines + 1] = pending[i], pending[i + 1]
    end
    for _, entry in ipairs(history) do
      lines[#lines + 1] = entry
    end
    local bytes = 0
    for _, line in ipairs(lines) do
      bytes = bytes + #line
      if bytes > 2 * BYTES_MAX or string.find(line, '[%z\1-\31]') then
        return nil
      end
    end
    local body = table.concat(lines, '\n')
    for i, id in ipairs(ids) do
      if #id == 0 or #id > ID_BYTES_MAX then
        return nil
      end
      if not string.find(id, '[^0-9a-f]') then
        body = replace(body, '"' .. id .. '"', mark_of(i))
      end
    end
    local head = { VERSION, string.char(done), string.char(begun) }
    local marked = lines_of(body)
    for i, id in ipairs(ids) do
      head[#head + 1] = pack_id(id, name_of(i, done, marked, body))
    end
    for _, time in ipairs(times_of(run)) do
      body = replace(body, time[2], time[1])
    end
    for _, word in ipairs(WORDS) do
      body = replace(body, word[2], word[1])
    end
    return table.concat(head) .. body
  end

  -- Returns the IDs, false for those that are hashes of names, and the position after them.
  local function read_ids(text, count, at)
    local ids = {}
    for i = 1, count do
      local length = string.byte(text, at)
      if length == HASHED_NAME then
        ids[i] = false
        at = at + 1
      elseif length == SHA1 then
        ids[i] = string.gsub(string.sub(text, at + 1, at + 20), '.', function(byte)
          return string.format('%02x', string.byte(byte))
        end)
        at = at + 21
      else
        ids[i] = string.sub(text, at + 1, at + length)
        at = at + 1 + length
      end
    end
    return ids, at
  end

  -- Returns the fields together, and their number; nil: the run is not packed.
  local function fields_of(run)
    if redis.call('HEXISTS', run, FIELD_PACKED) == 0 then
      return nil
    end
    local texts = {}
    local fields = redis.call('HGETALL', run)
    for i = 1, #fields, 2 do
      local n = tonumber(fields[i])
      if n then
        texts[n + 1] = fields[i + 1]
      end
    end
    return table.concat(texts), #texts
  end

  -- Returns by suffix what the keys of these parts would have; nil: the run is not packed. The second value: number of fields.
  local function read(run)
    local text, fields = fields_of(run)
    if not text then
      return nil
    end
    local done, begun = string.byte(text, 2, 3)
    local ids, at = read_ids(text, done + begun, 4)
    local meanings = {}
    for _, words in ipairs({ WORDS, times_of(run) }) do
      for _, word in ipairs(words) do
        meanings[word[1]] = word[2]
      end
    end
    local body = string.gsub(string.sub(text, at), '[%z\1-\31]', meanings)
    local lines = lines_of(body)
    for i, id in ipairs(ids) do
      ids[i] = id or redis.sha1hex(name_of(i, done, lines, body))
    end
    local stack, memos, pending, history = {}, {}, {}, {}
    for n, marked in ipairs(lines) do
      local line = string.gsub(marked, ID_MARK .. '(.)', function(mark)
        return '"' .. ids[string.byte(mark) - ID_BASE] .. '"'
      end)
      if n <= done then
        stack[n] = ids[n]
        memos[2 * n - 1], memos[2 * n] = ids[n], line
      elseif n <= done + begun then
        pending[#pending + 1] = ids[n]
        pending[#pending + 1] = line
      else
        history[#history + 1] = line
      end
    end
    return {
      [SUFFIX_STACK] = stack, [SUFFIX_MEMOS] = memos, [SUFFIX_PENDING] = pending, [SUFFIX_HISTORY] = history,
    }, fields
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
      run, redis.call('LRANGE', run .. SUFFIX_STACK, 0, -1), redis.call('HGETALL', run .. SUFFIX_MEMOS),
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

  return { read = read, unpack = unpack_fields, pack = pack }
end
