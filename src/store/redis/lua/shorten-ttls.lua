-- Lets time pass for keys with a TTL, in dev mode on a single Redis: one portion of the keyspace.
-- KEYS: none
-- ARGV: cursor, by how much to shorten (ms), prefix of keys, first words of the keys that stay as they are
-- Returns the next cursor; '0': the end.
local cursor, by, prefix = ARGV[1], tonumber(ARGV[2]), ARGV[3] .. ':'
local FIRST_WORD, PORTION = 4, 2000
local stays = {}
for i = FIRST_WORD, #ARGV do
  stays[ARGV[i]] = true
end

local reply = redis.call('SCAN', cursor, 'COUNT', PORTION)
for _, key in ipairs(reply[2]) do
  if string.sub(key, 1, #prefix) == prefix and not stays[string.match(key, '^[^:]*', #prefix + 1)] then
    local ttl = redis.call('PTTL', key)
    if ttl > by then
      redis.call('PEXPIRE', key, ttl - by)
    elseif ttl >= 0 then
      redis.call('UNLINK', key)
    end
  end
end
return reply[1]
