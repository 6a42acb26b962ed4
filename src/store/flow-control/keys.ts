/** Keys of the flow-control room. Each is in the partition that its name gives it (keyspace.ts: `homeOf`). */
import type { KeyDeclaration } from '../redis/key-declaration.ts';
import { BATCH_KEY_DECLARATIONS, batchKeys } from './batch-keys.ts';
import { DEBOUNCE_KEY_DECLARATIONS, debounceKeys } from './debounce-keys.ts';
import { DECISION_KEY_DECLARATIONS, decisionKeys } from './decision-keys.ts';

export const flowControlKeys = (prefix: string) => ({
  ...batchKeys(prefix),
  ...debounceKeys(prefix),
  rateLimit: (env: string, digest: string) => `${prefix}:rate-limit:${env}:${digest}`,
  idempotency: (env: string, digest: string) => `${prefix}:idempotency:${env}:${digest}`,
  singleton: (env: string, digest: string) => `${prefix}:singleton:${env}:${digest}`,
  ...decisionKeys(prefix),
  admissions: `${prefix}:admissions`,
  admissionChecks: `${prefix}:admission-checks`,
  heldBacklogs: `${prefix}:held-backlogs`,
  waitingCalls: `${prefix}:waiting-calls`,
  /** @param backlog `<env>:<digest>` */
  backlog: (env: string, backlog: string) => `${prefix}:backlog:${env}:${backlog}`,
  backlogInfo: (env: string, backlog: string) => `${prefix}:backlog-info:${env}:${backlog}`,
  functionBacklogs: (env: string, functionId: string) => `${prefix}:function-backlogs:${env}:${functionId}`,
  limit: (limit: string) => `${prefix}:limit:${limit}`,
  limitBacklogs: (limit: string) => `${prefix}:limit-backlogs:${limit}`,
  throttle: (limit: string) => `${prefix}:throttle:${limit}`,
  heldFunctions: (env: string) => `${prefix}:held-functions:${env}`,
});

export const FLOW_CONTROL_KEY_DECLARATIONS = {
  ...BATCH_KEY_DECLARATIONS,
  ...DEBOUNCE_KEY_DECLARATIONS,
  rateLimit: {
    pattern: 'rate-limit:<env>:<digest>',
    type: 'zset',
    owner: 'flow-control/rate-limit-logs.ts',
    ttl: 'period of the limit, 60 s at least',
    size: '1 entry per run admitted in this time',
    description:
      'IDs of the runs that a rate limit has admitted, by time (µs). `<digest>` stands for function, key and value (`model/flow-control/key-digest.ts`).',
  },
  idempotency: {
    pattern: 'idempotency:<env>:<digest>',
    type: 'string',
    owner: 'flow-control/idempotency-claims.ts',
    ttl: '24 h',
    size: '26 bytes per value of an idempotency key',
    description: 'ID of the first run with the value.',
  },
  singleton: {
    pattern: 'singleton:<env>:<digest>',
    type: 'string',
    owner: 'flow-control/singleton-holders.ts',
    ttl: 'none; deleted when the run ends',
    size: '40 bytes per active run of a singleton',
    description:
      'ID of the active run, since when (ms), and IDs of the runs before it until they are certainly cancelled.',
  },
  ...DECISION_KEY_DECLARATIONS,
  admissions: {
    pattern: 'admissions',
    type: 'hash',
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: '1 field per call in flight with limits, and per active run with limits of whole runs',
    description:
      '`<run ID>/<call>` or run ID → executions of its job, environment, function and the limits that it holds.',
  },
  admissionChecks: {
    pattern: 'admission-checks',
    type: 'zset',
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: '1 entry per admission; `!<limit>` per throttle with a backlog; `~<env> <function>` for a moment after a deploy',
    description:
      'What is checked next, by time (ms): admissions whose job may be lost, and limits whose backlogs may go on.',
  },
  heldBacklogs: {
    pattern: 'held-backlogs',
    type: 'hash',
    owner: 'flow-control/limit-usage.ts',
    ttl: 'none',
    size: '1 field per backlog that is not empty',
    description: '`<env>:<backlog>` → the limit that holds back its first call.',
  },
  waitingCalls: {
    pattern: 'waiting-calls',
    type: 'hash',
    owner: 'flow-control/limit-usage.ts',
    ttl: 'none',
    size: '1 field per function with calls that wait',
    description: '`<env> <function ID>` → number of calls that wait.',
  },
  backlog: {
    pattern: 'backlog:<env>:<backlog>',
    type: 'zset',
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: '1 entry per call that waits',
    description:
      'Calls with the same limits that wait: `<run ID>/<call>` by the time since when (ms), less their priority.',
  },
  backlogInfo: {
    pattern: 'backlog-info:<env>:<backlog>',
    type: 'string',
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: '1 KiB; only while calls wait',
    description: 'Function and limits of the backlog, as JSON.',
  },
  functionBacklogs: {
    pattern: 'function-backlogs:<env>:<function ID>',
    type: 'zset',
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: '1 entry per backlog that is not empty',
    description: 'Backlogs of the function, by the number of calls that wait.',
  },
  limit: {
    pattern: 'limit:<limit>',
    type: 'set',
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: 'the limit',
    description: 'Calls, or runs, that hold a permit of a concurrency limit.',
  },
  limitBacklogs: {
    pattern: 'limit-backlogs:<limit>',
    type: 'zset',
    owner: 'flow-control/admissions.ts',
    ttl: 'none',
    size: '1 entry per backlog that the limit holds back',
    description: '`<env>:<backlog>` by the score of its first call.',
  },
  throttle: {
    pattern: 'throttle:<limit>',
    type: 'string',
    owner: 'flow-control/admissions.ts',
    ttl: 'until it has no effect',
    size: '25 bytes',
    description: 'TAT of a throttle (GCRA), when the next start is due at an even rate: seconds and milliseconds.',
  },
  heldFunctions: {
    pattern: 'held-functions:<env>',
    type: 'hash',
    owner: 'flow-control/held-functions.ts',
    ttl: 'none',
    size: '1 field per function whose queued runs are held or being cancelled',
    description:
      'Function ID → the limit by which its runs wait; a time (ms) follows if only those queued until then do.',
  },
} as const satisfies Record<keyof ReturnType<typeof flowControlKeys>, KeyDeclaration>;
