-- Lists a run under an event that is not its first, once: the run may be in another partition.
-- KEYS: runs of the events of its slice (hash), its overflow key (string)
-- ARGV: field of the event, run ID, retention (ms), 1 if the run is created long after the event
-- Returns nothing.
local key, overflow = unpack(KEYS)
local field, run_id, retention, is_overflow = unpack(ARGV)

local ids = (is_overflow == '1' and redis.call('GET', overflow) or redis.call('HGET', key, field)) or ''
for at = 1, #ids, #run_id do
  if string.sub(ids, at, at + #run_id - 1) == run_id then
    return
  end
end
if is_overflow == '1' then
  redis.call('APPEND', overflow, run_id)
  redis.call('PEXPIRE', overflow, retention)
else
  redis.call('HSET', key, field, ids .. run_id)
  redis.call('PEXPIRE', key, retention)
end
