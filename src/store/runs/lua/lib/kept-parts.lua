-- Parts that a run keeps after its end (keys/runs.ts). A part of KEPT_PARTS: suffix of its key, type, field by which it changes,
-- field with its bytes.

-- Returns the entries of the list, or the fields of the hash.
local function read_part(run, part)
  local suffix, type = unpack(part)
  if type == 'list' then
    return redis.call('LRANGE', run .. suffix, 0, -1)
  end
  return redis.call('HGETALL', run .. suffix)
end

-- Returns the version of the part, a text that changes with it, or ''. `contents`: as read_part returns them, if they are read already.
local function version_of(run, part, contents)
  local suffix, _, changes_in = unpack(part)
  if changes_in == '-' or (contents and #contents == 0) then
    return ''
  end
  if changes_in ~= '' then
    return redis.call('HGET', run .. suffix, changes_in) or ''
  end
  contents = contents or read_part(run, part)
  return #contents > 0 and redis.sha1hex(table.concat(contents, '\n')) or ''
end
