-- Returns all of a run, in a form that only this version and return-run.lua need to know: the packed list of suffix, type, contents, …
local function run_contents(run)
  local parts = {}
  local suffixes = { '', unpack(PART_SUFFIXES) }
  for _, suffix in ipairs(suffixes) do
    local key = run .. suffix
    local kind = redis.call('TYPE', key).ok
    if kind ~= 'none' then
      parts[#parts + 1] = suffix
      parts[#parts + 1] = kind
      parts[#parts + 1] = kind == 'list' and redis.call('LRANGE', key, 0, -1) or redis.call('HGETALL', key)
    end
  end
  return cmsgpack.pack(parts)
end

-- Returns what distinguishes versions of a run, in the fraction of the alarm of an offloaded run: its milliseconds leave room for 12 bits.
local function version_of(contents)
  return tonumber(string.sub(redis.sha1hex(contents), 1, 3), 16) / 4096
end
