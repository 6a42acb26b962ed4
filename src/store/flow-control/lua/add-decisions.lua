-- Stores decisions about events of one environment. Of several decisions about one event and function, the last one counts.
-- KEYS: prefix of the keys that events share (hash; the key ends with the beginning of an event's ID), prefix of the key that an
-- event has alone (string)
-- ARGV: TTL (ms), then for each event: its ID, its field in a hash, whether it has a key of its own ("1"), its decisions
--       (model/flow-control/decision-encoding.ts), each about another function
-- Returns nothing.
local shared_prefix, own_prefix = unpack(KEYS)
local ttl = ARGV[1]
local FIRST_EVENT = 2
-- Redis stores hashes compactly up to 512 fields, and values up to 64 bytes.
local FIELDS_MAX = 256
local VALUE_MAX = 64
local OWN_MAX = 8192

local counts, touched = {}, {}

-- Calls `take` with each entry of a text and the digest of its function.
local function each(text, take)
  local at = 1
  while at <= #text do
    local length = DECISION_ENTRY_BYTES[math.floor(string.byte(text, at + DECISION_DIGEST_BYTES) / 16) + 1]
    take(string.sub(text, at, at + length - 1), string.sub(text, at, at + DECISION_DIGEST_BYTES - 1))
    at = at + length
  end
end

-- Merges entries: earlier ones about other functions, followed by the new ones.
local function merged(earlier, entries)
  if not earlier or earlier == '' then
    return entries
  end
  local kept, digests = {}, {}
  each(entries, function(_, digest)
    digests[digest] = true
  end)
  each(earlier, function(entry, digest)
    if not digests[digest] then
      kept[#kept + 1] = entry
    end
  end)
  kept[#kept + 1] = entries
  return table.concat(kept)
end

-- Returns the first key with room. A full key is not searched for the event: at worst it keeps an earlier decision, which does not count.
local function key_for(id)
  local key
  for _, length in ipairs(DECISION_PREFIX_LENGTHS) do
    key = shared_prefix .. string.sub(id, 1, length)
    counts[key] = counts[key] or redis.call('HLEN', key)
    if counts[key] < FIELDS_MAX then
      break
    end
  end
  return key
end

-- Returns false if the decisions are too long for a shared key.
local function share(id, field, entries)
  local key = key_for(id)
  local text = merged(redis.call('HGET', key, field), entries)
  if #text > VALUE_MAX then
    return false
  end
  counts[key] = counts[key] + redis.call('HSET', key, field, text)
  touched[key] = true
  return true
end

for i = FIRST_EVENT, #ARGV, 4 do
  local id, field, is_own, entries = unpack(ARGV, i, i + 3)
  local own = own_prefix .. id
  -- The event's own key takes precedence over shared keys.
  if is_own == '1' or redis.call('EXISTS', own) == 1 or not share(id, field, entries) then
    local text = merged(redis.call('GET', own), entries)
    if #text <= OWN_MAX then
      redis.call('SET', own, text)
      touched[own] = true
    end
  end
end
for key in pairs(touched) do
  redis.call('PEXPIRE', key, ttl)
end
