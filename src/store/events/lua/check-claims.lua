-- Runs before BullMQ's script that adds a job (jobs/queues/claimed-jobs.ts), and prevents it if the claims of the job's events are lost.
-- KEYS: the keys of BullMQ's script, then the claim of each event with a deduplication ID (string)
-- ARGV: the arguments of BullMQ's script, then for each claim: the internal ID of the event, 1 if the first event with it is enqueued or 0
-- Returns false: a claim is gone, or belongs to another event. Otherwise marks the claims' events as enqueued and continues with BullMQ's
-- script.
local first_claims = {}
for i = BULLMQ_KEYS + 1, #KEYS do
  local arg = BULLMQ_ARGS + 2 * (i - BULLMQ_KEYS) - 1
  local id, is_repeat = ARGV[arg], ARGV[arg + 1] == '1'
  local claim = redis.call('GET', KEYS[i])
  if claim ~= id .. ENQUEUED and (is_repeat or claim ~= id) then
    return false
  end
  if claim == id then
    first_claims[KEYS[i]] = id
  end
end
for claim, id in pairs(first_claims) do
  redis.call('SET', claim, id .. ENQUEUED, 'KEEPTTL')
end
