-- Stores decisions about events of one environment, one for each event and function: a later one replaces the earlier one.
-- KEYS: what precedes the prefix of an event's ID in the keys that events share (hash), what precedes its ID in the key of its own (string)
-- ARGV: TTL (ms), then for each event: its ID, its field in a hash, whether it has a key of its own ("1"), its decisions
--       (model/flow-control/decision-encoding.ts), each about another function
-- Returns nothing.
local shared_prefix, own_prefix = unpack(KEYS)
local ttl = ARGV[1]
local FIRST_EVENT = 2
-- Redis stores hashes compactly up to 512 fields, and values of 64 bytes.
local FIELDS_MAX = 256
local VALUE_MAX = 64
local OWN_MAX = 8192

local counts, touched = {}, {}

-- Calls a function with each entry of a text and the digest of its function.
local function each(text, take)
  local at = 1
  while at <= #text do
    local length = DECISION_ENTRY_BYTES[math.floor(string.byte(text, at + DECISION_DIGEST_BYTES) / 16) + 1]
    take(string.sub(text, at, at + length - 1), string.sub(text, at, at + DECISION_DIGEST_BYTES - 1))
    at = at + length
  end
end

-- The text without the entries of some functions; nil: it has none of them.
local function without(text, digests)
  local rest, removed = {}, false
  each(text, function(entry, digest)
    if digests[digest] then
      removed = true
    else
      rest[#rest + 1] = entry
    end
  end)
  return removed and table.concat(rest) or nil
end

-- Removes earlier decisions about the same functions.
local function remove(id, field, own, entries)
  local digests = {}
  each(entries, function(_, digest)
    digests[digest] = true
  end)
  for _, length in ipairs(DECISION_PREFIX_LENGTHS) do
    local key = shared_prefix .. string.sub(id, 1, length)
    local rest = without(redis.call('HGET', key, field) or '', digests)
    if rest == '' then
      redis.call('HDEL', key, field)
    elseif rest then
      redis.call('HSET', key, field, rest)
    end
  end
  local rest = without(redis.call('GET', own) or '', digests)
  if rest then
    redis.call('SET', own, rest, 'KEEPTTL')
  end
end

-- Returns false if they are too long for a key that events share.
local function append(id, field, entries)
  for i, length in ipairs(DECISION_PREFIX_LENGTHS) do
    local key = shared_prefix .. string.sub(id, 1, length)
    local text = redis.call('HGET', key, field)
    counts[key] = counts[key] or redis.call('HLEN', key)
    if text or counts[key] < FIELDS_MAX or i == #DECISION_PREFIX_LENGTHS then
      if #(text or '') + #entries > VALUE_MAX then
        return false
      end
      counts[key] = counts[key] + redis.call('HSET', key, field, (text or '') .. entries)
      touched[key] = true
      return true
    end
  end
end

for i = FIRST_EVENT, #ARGV, 4 do
  local id, field, is_own, entries = unpack(ARGV, i, i + 3)
  local own = own_prefix .. id
  remove(id, field, own, entries)
  if (is_own == '1' or not append(id, field, entries)) and redis.call('STRLEN', own) + #entries <= OWN_MAX then
    redis.call('APPEND', own, entries)
    touched[own] = true
  end
end
for key in pairs(touched) do
  redis.call('PEXPIRE', key, ttl)
end
