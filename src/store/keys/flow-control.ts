/** Keys of the flow-control room. The partition of each follows from its home (keyspace.ts: `homeOf`). */

import { BATCH_KEYS } from './batches.ts';
import { DEBOUNCE_KEYS } from './debounces.ts';
import { DECISION_KEYS } from './decisions.ts';
import { hash, set, string, zset } from './key-declaration.ts';
import { LANE_KEYS } from './lanes.ts';

export const FLOW_CONTROL_KEYS = {
  ...BATCH_KEYS,
  ...DEBOUNCE_KEYS,
  ...LANE_KEYS,
  rateLimit: zset(
    'rate-limit:<env>:<digest>',
    'Admitted runs by time (µs). `<digest>`: function, key and value (`model/flow-control/key-digest.ts`).',
    {
      owner: 'flow-control/rate-limit-logs.ts',
      ttl: 'period of the limit, 60 s at least',
      size: '1 entry per admitted run',
    },
  ),
  idempotency: string('idempotency:<env>:<digest>', 'First run with the key value.', {
    owner: 'flow-control/idempotency-claims.ts',
    ttl: '24 h',
    size: '26 bytes',
  }),
  singleton: string(
    'singleton:<env>:<digest>',
    'Active run, since when (ms), and earlier runs until they are cancelled.',
    { owner: 'flow-control/singleton-holders.ts', ttl: 'none; deleted when the run ends', size: '40 bytes' },
  ),
  ...DECISION_KEYS,
  admissions: hash('admissions', '`<run ID>/<call>`, or run ID → job executions, environment, function, limits held.', {
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: '1 field per call or run that holds a limit',
  }),
  admissionChecks: zset('admission-checks', 'Next checks by time (ms), of admissions and backlogs.', {
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: '1 entry per admission; `!<limit>` per throttle with a backlog; `~<env> <function>` after a deploy',
  }),
  heldBacklogs: hash('held-backlogs', '`<env>:<backlog>` → limit that holds back its first call.', {
    owner: 'flow-control/limit-usage.ts',
    ttl: 'none',
    size: '1 field per backlog',
  }),
  waitingCalls: hash('waiting-calls', '`<env> <function ID>` → waiting calls.', {
    owner: 'flow-control/limit-usage.ts',
    ttl: 'none',
    size: '1 field per function with waiting calls',
  }),
  backlog: zset(
    'backlog:<env>:<backlog>',
    '`<run ID>/<call>` of waiting calls with the same limits, by start of the wait (ms) less priority.',
    { owner: 'flow-control/admissions.ts', ttl: 'none', size: '1 entry per waiting call' },
  ),
  backlogInfo: string('backlog-info:<env>:<backlog>', 'Function and limits of the backlog, as JSON.', {
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: '1 KiB',
  }),
  functionBacklogs: zset('function-backlogs:<env>:<function ID>', 'Backlogs of the function by waiting calls.', {
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: '1 entry per backlog',
  }),
  limit: set('limit:<limit>', 'Calls or runs that hold a permit.', {
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: 'the limit',
  }),
  limitBacklogs: zset(
    'limit-backlogs:<limit>',
    'Backlogs that the limit holds back, `<env>:<backlog>`, by score of the first call.',
    { owner: 'flow-control/admissions.ts', ttl: 'none', size: '1 entry per backlog' },
  ),
  throttle: string('throttle:<limit>', 'Time of the next start at an even rate (GCRA): seconds and milliseconds.', {
    owner: 'flow-control/admissions.ts',
    ttl: 'until it has no effect',
    size: '25 bytes',
  }),
  heldFunctions: hash(
    'held-functions:<env>',
    'Function ID → limit that holds its runs, and if only earlier runs are held, a time (ms).',
    { owner: 'flow-control/held-functions.ts', ttl: 'none', size: '1 field per held function' },
  ),
};
