/** Keys of the telemetry room. */
import type { KeyDeclaration } from './key-declaration.ts';

export const telemetryKeys = (prefix: string) => ({
  metrics: (env: string, stepMs: number, blockStart: number) => `${prefix}:metrics:${env}:${stepMs}:${blockStart}`,
  functionMetrics: (env: string, hourStart: number) => `${prefix}:function-metrics:${env}:${hourStart}`,
  functionSeries: (env: string, stepMs: number, blockStart: number, functionId: string) =>
    `${prefix}:function-series:${env}:${stepMs}:${blockStart}:${functionId}`,
  stepSeries: (env: string, stepMs: number, blockStart: number, functionId: string) =>
    `${prefix}:step-series:${env}:${stepMs}:${blockStart}:${functionId}`,
  stepNumbers: (env: string, dayStart: number, functionId: string) =>
    `${prefix}:step-numbers:${env}:${dayStart}:${functionId}`,
  /** @param step digest of the step's name; empty for runs */
  recentDurations: (env: string, step: string, functionId: string) =>
    `${prefix}:recent-durations:${env}:${step}:${functionId}`,
  processes: `${prefix}:processes`,
  liveWorkers: `${prefix}:live-workers`,
  archiveStatus: `${prefix}:archive-status`,
  process: (id: string) => `${prefix}:process:${id}`,
  liveUpdates: (env: string | undefined) =>
    env === undefined ? `${prefix}:live-updates` : `${prefix}:live-updates:${env}`,
});

export const TELEMETRY_KEY_DECLARATIONS = {
  metrics: {
    pattern: 'metrics:<env>:<step ms>:<block start>',
    type: 'hash',
    owner: 'telemetry/metrics.ts',
    ttl: '7 days + 2 blocks',
    size: '1 field per counter and latency bucket of each step',
    description: '`<step within the block><letter>` → count.',
  },
  functionMetrics: {
    pattern: 'function-metrics:<env>:<hour start>',
    type: 'hash',
    owner: 'telemetry/metrics.ts',
    ttl: '7 days + 2 h',
    size: '4 fields per function',
    description: '`<counter> <function ID>` → runs in that hour.',
  },
  functionSeries: {
    pattern: 'function-series:<env>:<step ms>:<block start>:<function>',
    type: 'hash',
    owner: 'telemetry/function-series.ts',
    ttl: '6 h, 1 day or 7 days by step, + 2 blocks',
    size: '10 steps, 1 field per counter and bucket',
    description: '`<step within the block><letter>` → runs, or durations in a bucket.',
  },
  stepSeries: {
    pattern: 'step-series:<env>:<step ms>:<block start>:<function>',
    type: 'hash',
    owner: 'telemetry/function-series.ts',
    ttl: '1 day or 7 days by step, + 2 blocks',
    size: '3 steps, 1 field per bucket of 51 function steps',
    description: '`<step within the block>.<step number><letter>` → count.',
  },
  stepNumbers: {
    pattern: 'step-numbers:<env>:<day start>:<function>',
    type: 'hash',
    owner: 'telemetry/function-series.ts',
    ttl: '9 days, renewed',
    size: '50 fields of up to 100 characters',
    description: 'Step name → its number that day.',
  },
  recentDurations: {
    pattern: 'recent-durations:<env>:<step>:<function>',
    type: 'list',
    owner: 'telemetry/recent-durations.ts',
    ttl: '7 days, renewed',
    size: '19 entries of 20 bytes, for 50 steps and the runs',
    description: '`<time>:<duration>` (ms) of the last runs or steps; `<step>`: digest of the name.',
  },
  processes: {
    pattern: 'processes',
    type: 'zset',
    owner: 'telemetry/processes.ts',
    ttl: '10 s, renewed',
    size: '1 entry per process',
    description: 'Running processes by last heartbeat (ms).',
  },
  liveWorkers: {
    pattern: 'live-workers',
    type: 'zset',
    owner: 'telemetry/live-workers.ts',
    ttl: '1 min, renewed',
    size: '1 entry per worker',
    description: 'Workers that share the partitions, by last renewal (ms).',
  },
  archiveStatus: {
    pattern: 'archive-status',
    type: 'hash',
    owner: 'telemetry/archive-status.ts',
    ttl: '30 days, renewed',
    size: '1 field per partition, and 2',
    description:
      'Partition → receipt (ms) of its oldest unarchived event that is due; empty: none. `shipped`, `failed`: last shipments (ms).',
  },
  process: {
    pattern: 'process:<process ID>',
    type: 'string',
    owner: 'telemetry/processes.ts',
    ttl: '10 s, renewed',
    size: '1 JSON object',
    description: 'Running process, as JSON.',
  },
  liveUpdates: {
    pattern: 'live-updates:<env>',
    type: 'channel',
    owner: 'telemetry/live-updates.ts',
    ttl: '–',
    size: '100 items per message',
    description: 'What just happened; without `:<env>`: in the installation.',
  },
} as const satisfies Record<keyof ReturnType<typeof telemetryKeys>, KeyDeclaration>;
