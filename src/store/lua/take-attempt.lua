-- Counts a try to sign in against its account and its address, unless one of them has to wait.
-- KEYS[1] the account's tries (hash: tries, until)  KEYS[2] the address's
-- ARGV[1] now (ms)  ARGV[2] free tries of an account  ARGV[3] of an address  ARGV[4] first wait (ms)  ARGV[5] longest wait (ms)  ARGV[6] forget after (ms)
-- Returns 0 counted, or how many milliseconds there are to wait
local now = tonumber(ARGV[1])
local wait = 0
for _, key in ipairs(KEYS) do
  local until_ = tonumber(redis.call('HGET', key, 'until') or '0')
  wait = math.max(wait, until_ - now)
end
if wait > 0 then return wait end
for i, key in ipairs(KEYS) do
  local tries = redis.call('HINCRBY', key, 'tries', 1)
  local over = tries - tonumber(ARGV[i + 1])
  if over >= 0 then
    redis.call('HSET', key, 'until', now + math.min(tonumber(ARGV[4]) * 2 ^ math.min(over, 20), tonumber(ARGV[5])))
  end
  redis.call('PEXPIRE', key, ARGV[6])
end
return 0
