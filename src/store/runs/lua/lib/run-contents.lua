-- Returns all of a run, in a form that only this version, read-contents.lua and return-run.lua need to know: the packed list of
-- suffix, type, contents, …
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

-- Returns what distinguishes versions of a run.
local VERSION_LENGTH = 3
local function version_of(contents)
  return string.sub(redis.sha1hex(contents), 1, VERSION_LENGTH)
end

local function alarm_time(at)
  return string.format('%011x', math.floor(at))
end

-- The alarm of an offloaded run: its time in hexadecimal, then the version of the contents. 14 bytes; two more would take 16 in memory.
local function alarm_of(at, contents)
  return alarm_time(at) .. version_of(contents)
end

-- Returns the time (ms) and the version.
local function read_alarm(alarm)
  return tonumber(string.sub(alarm, 1, -VERSION_LENGTH - 1), 16), string.sub(alarm, -VERSION_LENGTH)
end
