/** Keys of the runs room, and what the scripts in lua/ have to know of them (redis/scripts.ts). */
import type { Ending, RunGroup } from '../../model/runs/run.ts';
import type { KeyDeclaration } from '../redis/key-declaration.ts';

/** Ends of the keys of a run's parts, which begin with the run's own key. */
export const RUN_SUFFIXES = {
  memos: ':memos',
  stack: ':stack',
  pending: ':pending',
  requests: ':requests',
  defers: ':defers',
  history: ':history',
  waits: ':waits',
  metadata: ':metadata',
  logs: ':logs',
} as const;

/** Lengths of the segments of ended runs: a run is in the first one of its time that has room (ended-run-index.ts). */
export const SEGMENT_LENGTHS_MS = [60_000, 1_000, 50] as const;

export const runKeys = (prefix: string) => ({
  run: (env: string, runId: string) => `${prefix}:run:${env}:${runId}`,
  memos: (env: string, runId: string) => `${prefix}:run:${env}:${runId}${RUN_SUFFIXES.memos}`,
  stack: (env: string, runId: string) => `${prefix}:run:${env}:${runId}${RUN_SUFFIXES.stack}`,
  pending: (env: string, runId: string) => `${prefix}:run:${env}:${runId}${RUN_SUFFIXES.pending}`,
  defers: (env: string, runId: string) => `${prefix}:run:${env}:${runId}${RUN_SUFFIXES.defers}`,
  requests: (env: string, runId: string) => `${prefix}:run:${env}:${runId}${RUN_SUFFIXES.requests}`,
  history: (env: string, runId: string) => `${prefix}:run:${env}:${runId}${RUN_SUFFIXES.history}`,
  waitsOfRun: (env: string, runId: string) => `${prefix}:run:${env}:${runId}${RUN_SUFFIXES.waits}`,
  metadata: (env: string, runId: string) => `${prefix}:run:${env}:${runId}${RUN_SUFFIXES.metadata}`,
  logs: (env: string, runId: string) => `${prefix}:run:${env}:${runId}${RUN_SUFFIXES.logs}`,
  restoredRun: (env: string, runId: string) => `${prefix}:restored-run:${env}:${runId}`,
  activeRuns: `${prefix}:active-runs`,
  activeRunsIn: (env: string) => `${prefix}:active-runs:${env}`,
  endedRuns: (env: string, ending: Ending['status'], segment: string) =>
    `${prefix}:ended-runs:${env}:${ending}:${segment}`,
  endedRunMinutes: (env: string, ending: Ending['status']) => `${prefix}:ended-run-minutes:${env}:${ending}`,
  runIndex: (env: string, group: RunGroup, functionId: string) => `${prefix}:runs:${env}:${group}:${functionId}`,
  eventRuns: (env: string, slice: string) => `${prefix}:event-runs:${env}:${slice}`,
  overflowEventRuns: (env: string, eventId: string) => `${prefix}:overflow-event-runs:${env}:${eventId}`,
  waits: (env: string, eventName: string) => `${prefix}:waits:${env}:${eventName}`,
  waitsByValue: (env: string, digest: string, eventName: string) =>
    `${prefix}:waits-by-value:${env}:${digest}:${eventName}`,
  waitPaths: (env: string, eventName: string) => `${prefix}:wait-paths:${env}:${eventName}`,
  signal: (env: string, signal: string) => `${prefix}:signals:${env}:${signal}`,
});

/** Of all partitions. */
export const cancellationKeys = (prefix: string) => ({
  cancellations: (env: string) => `${prefix}:cancellations:${env}`,
  dueCancellations: `${prefix}:due-cancellations`,
  bulkActions: (env: string) => `${prefix}:bulk-actions:${env}`,
  dueBulkActions: `${prefix}:due-bulk-actions`,
  bulkResults: (env: string, id: string) => `${prefix}:bulk-results:${env}:${id}`,
});

export const RUN_KEY_DECLARATIONS = {
  run: {
    pattern: 'run:<env>:<run ID>',
    type: 'hash',
    owner: 'runs/runs.ts',
    ttl: 'none while active, then retention',
    size: 'output and error besides about 15 short fields',
    description: 'A run (`store/runs/run-fields.ts`).',
  },
  memos: {
    pattern: 'run:<env>:<run ID>:memos',
    type: 'hash',
    owner: 'runs/steps.ts',
    ttl: 'as the run',
    size: '1 field per finished step, 1,000 steps',
    description: 'Hashed step ID → memo, as JSON.',
  },
  stack: {
    pattern: 'run:<env>:<run ID>:stack',
    type: 'list',
    owner: 'runs/steps.ts',
    ttl: 'as the run',
    size: '1 entry per finished step',
    description: 'Hashed IDs of the finished steps, in the order of completion.',
  },
  metadata: {
    pattern: 'run:<env>:<run ID>:metadata',
    type: 'hash',
    owner: 'runs/run-metadata.ts',
    ttl: 'as the run',
    size: '500 fields, 64 KiB; only of runs with metadata',
    description:
      'Metadata of the run and its steps: target and kind → time of the last change; these and a name → value, as JSON.',
  },
  logs: {
    pattern: 'run:<env>:<run ID>:logs',
    type: 'hash',
    owner: 'runs/run-logs.ts',
    ttl: 'as the run',
    size: '1,000 lines, 256 KiB, and 1,000 IDs of batches; only of runs that have logged',
    description:
      'What the function wrote with its logger: number → line, as JSON; counts, and the IDs of the batches that are stored.',
  },
  pending: {
    pattern: 'run:<env>:<run ID>:pending',
    type: 'hash',
    owner: 'runs/steps.ts',
    ttl: 'deleted when the run ends',
    size: '1 field per step that has begun',
    description: 'Hashed ID of a step that has begun and not finished → the step, as JSON.',
  },
  defers: {
    pattern: 'run:<env>:<run ID>:defers',
    type: 'hash',
    owner: 'runs/defers.ts',
    ttl: 'deleted when the run ends',
    size: '1 field per deferred function, 1,000; with the memos 32 MiB',
    description: "ID → a function to run after the run's end and its input, as JSON; empty when it was aborted.",
  },
  requests: {
    pattern: 'run:<env>:<run ID>:requests',
    type: 'hash',
    owner: 'runs/sealed-requests.ts',
    ttl: 'deleted when the run ends',
    size: '1 field per step that makes a request, until its response; with the memos 32 MiB',
    description: 'Hashed step ID → the request, encrypted with `SECRET_KEY`.',
  },
  history: {
    pattern: 'run:<env>:<run ID>:history',
    type: 'list',
    owner: 'runs/runs.ts',
    ttl: 'as the run',
    size: '1 entry per attempt and step',
    description: 'Attempts and steps in the order they ended, as JSON.',
  },
  waitsOfRun: {
    pattern: 'run:<env>:<run ID>:waits',
    type: 'hash',
    owner: 'runs/waits.ts',
    ttl: 'deleted when the run ends',
    size: '1 field per wait',
    description: '`<run ID>/<step>` → the keys that hold the wait, as JSON.',
  },
  restoredRun: {
    pattern: 'restored-run:<env>:<run ID>',
    type: 'string',
    owner: 'runs/restored-steps.ts',
    ttl: '1 h; deleted when they are copied',
    size: 'empty; with `:memos` and `:stack` as those of a run',
    description: 'The finished steps of an archived run, for a re-run from one of them.',
  },
  activeRuns: {
    pattern: 'active-runs',
    type: 'zset',
    owner: 'runs/active-runs.ts',
    ttl: 'none',
    size: '1 entry per active run of all environments',
    description: '`<env>/<run ID>` by the time of the next reconciliation (ms).',
  },
  activeRunsIn: {
    pattern: 'active-runs:<env>',
    type: 'zset',
    owner: 'runs/active-runs.ts',
    ttl: 'none',
    size: '1 entry per active run',
    description: 'IDs of the active runs of the environment, by time of creation (ms).',
  },
  endedRuns: {
    pattern: 'ended-runs:<env>:<ending>:<segment>',
    type: 'list',
    owner: 'runs/ended-run-index.ts',
    ttl: 'retention + 1 min, renewed',
    size: '1,000 entries; any number in the shortest segments',
    description:
      '`<run ID><ms since the minute began>` of runs created in the segment `<length ms>:<start ms>`, in the order they ended.',
  },
  endedRunMinutes: {
    pattern: 'ended-run-minutes:<env>:<ending>',
    type: 'zset',
    owner: 'runs/ended-run-index.ts',
    ttl: 'retention + 1 min, renewed',
    size: '1 entry per minute',
    description: 'The minutes that have an `ended-runs` key, by their start (ms).',
  },
  runIndex: {
    pattern: 'runs:<env>:<group>:<function ID>',
    type: 'zset',
    owner: 'runs/run-lists.ts',
    ttl: 'active: none; ended: retention, renewed',
    size: '1 entry per run',
    description: 'Run IDs of a function, active or by how they ended, by time of creation (ms).',
  },
  eventRuns: {
    pattern: 'event-runs:<env>:<slice>',
    type: 'hash',
    owner: 'runs/event-runs.ts',
    ttl: 'retention, renewed with each run',
    size: '1 field per event that triggered a run',
    description:
      'Rest of the event ID → IDs of its runs, concatenated in the order of creation. `<slice>`: the first 8 characters of the event IDs.',
  },
  overflowEventRuns: {
    pattern: 'overflow-event-runs:<env>:<event ID>',
    type: 'string',
    owner: 'runs/event-runs.ts',
    ttl: 'retention, renewed with each run',
    size: '26 bytes per run',
    description: 'IDs of runs created more than a day after their event, concatenated.',
  },
  waits: {
    pattern: 'waits:<env>:<event name>',
    type: 'hash',
    owner: 'runs/waits.ts',
    ttl: 'timeout of its last wait + 24 h',
    size: '1 field per wait',
    description: '`<run ID>/<step>` → wait, as JSON, where the expression requires no value of a single field.',
  },
  waitsByValue: {
    pattern: 'waits-by-value:<env>:<digest>:<event name>',
    type: 'hash',
    owner: 'runs/waits.ts',
    ttl: 'timeout of its last wait + 24 h',
    size: '1 field per wait',
    description:
      'The same for waits that require one value of one field; `<digest>` stands for field and value (`model/runs/wait-index.ts`).',
  },
  waitPaths: {
    pattern: 'wait-paths:<env>:<event name>',
    type: 'hash',
    owner: 'runs/waits.ts',
    ttl: 'timeout of its last wait + 24 h',
    size: '16 fields',
    description: 'Path of a field, as JSON → number of waits that are found by its value.',
  },
  signal: {
    pattern: 'signals:<env>:<signal>',
    type: 'hash',
    owner: 'runs/signals.ts',
    ttl: 'timeout of its wait + 24 h',
    size: '1 field',
    description: '`<run ID>/<step>` of the step that waits for the signal.',
  },
  cancellations: {
    pattern: 'cancellations:<env>',
    type: 'hash',
    owner: 'runs/cancellations.ts',
    ttl: 'end of the last range + retention',
    size: '1,000 fields, 5 KB each',
    description: 'Bulk cancellations: ID → cancellation, as JSON.',
  },
  dueCancellations: {
    pattern: 'due-cancellations',
    type: 'zset',
    owner: 'runs/cancellations.ts',
    ttl: 'none',
    size: '100 entries per environment, while in progress',
    description: '`<env>/<ID>` of bulk cancellations in progress, by the time they go on (ms).',
  },
  bulkActions: {
    pattern: 'bulk-actions:<env>',
    type: 'hash',
    owner: 'runs/bulk-actions.ts',
    ttl: 'retention, renewed',
    size: '200 fields, 1 KB each; while in progress, of which there are 10, 50 KB each at most',
    description:
      'Bulk actions on runs: ID → what it is asked to do, how far it is, and the runs that it is acting on, as JSON.',
  },
  dueBulkActions: {
    pattern: 'due-bulk-actions',
    type: 'zset',
    owner: 'runs/bulk-actions.ts',
    ttl: 'none',
    size: '10 entries per environment, while in progress',
    description: '`<env>/<ID>` of bulk actions in progress, by the time they go on (ms).',
  },
  bulkResults: {
    pattern: 'bulk-results:<env>:<id>',
    type: 'zset',
    owner: 'runs/bulk-results.ts',
    ttl: 'retention, at most 7 days, renewed',
    size: '100,000 entries of 60 bytes',
    description:
      'What a bulk action did with each run, by number: the ID of the run, then the new run or the reason why it was skipped.',
  },
} as const satisfies Record<keyof (ReturnType<typeof runKeys> & ReturnType<typeof cancellationKeys>), KeyDeclaration>;
