-- @include runs/lua/lib/packed-run.lua
-- Reads what Postgres has of an offloaded run, without storing it.
-- KEYS: run (hash), which is not read
-- ARGV: contents (lib/run-contents.lua)
-- Returns {suffix, fields of the hash or entries of the list, suffix, …}, as of a run that is not packed.
local parts = cmsgpack.unpack(ARGV[1])
local contents, suffixes = {}, {}
local function add(suffix, values)
  if not contents[suffix] then
    suffixes[#suffixes + 1] = suffix
    contents[suffix] = {}
  end
  for _, value in ipairs(values) do
    table.insert(contents[suffix], value)
  end
end
for i = 1, #parts, 3 do
  if parts[i] == '' then
    -- Entries that were appended to a packed run come after what is packed.
    for suffix, values in pairs(packed_runs().read_fields(parts[i + 2]) or {}) do
      add(suffix, values)
    end
  end
  add(parts[i], parts[i + 2])
end
local reply = {}
for _, suffix in ipairs(suffixes) do
  reply[#reply + 1] = suffix
  reply[#reply + 1] = contents[suffix]
end
return reply
