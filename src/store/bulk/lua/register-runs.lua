-- Registers the next runs of a bulk operation before they are started, as many as its rate allows per second of Redis's clock.
-- KEYS: operation (hash), portion (hash), active runs (set)
-- ARGV: number of the portion, runs per second, TTL (ms), then run ID and event ID of each run
-- Returns {number of runs, from the first, that may be started, ms until the next second}; {-1, 0}: another worker has taken over, or the
-- operation no longer runs.
local operation, portion, active = unpack(KEYS)
local number, rate, ttl = unpack(ARGV, 1, 3)
local FIRST_RUN = 4

local present, status, second, granted = unpack(redis.call('HMGET', operation, 'portion', 'status', 'second', 'granted'))
if present ~= number or status ~= 'running' then
  return {-1, 0}
end
local time = redis.call('TIME')
granted = second == time[1] and tonumber(granted) or 0
local registered = 0
for i = FIRST_RUN, #ARGV, 2 do
  local run, event = ARGV[i], ARGV[i + 1]
  -- A worker that died may have registered the run.
  if redis.call('HEXISTS', portion, run) == 0 then
    if granted >= tonumber(rate) then
      break
    end
    granted = granted + 1
    redis.call('HSET', portion, run, event)
    redis.call('SADD', active, run)
  end
  registered = registered + 1
end
redis.call('HSET', operation, 'second', time[1], 'granted', granted)
redis.call('PEXPIRE', portion, ttl)
redis.call('PEXPIRE', active, ttl)
return {registered, 1000 - math.floor(time[2] / 1000)}
