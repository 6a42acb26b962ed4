/** Keys of the telemetry room. */
import { channel, hash, list, string, zset } from './key-declaration.ts';

export const TELEMETRY_KEYS = {
  metrics: hash('metrics:<env>:<step ms>:<block start>', '`<step within the block><letter>` → count.', {
    owner: 'telemetry/metrics.ts',
    ttl: '7 days + 2 blocks',
    size: '1 field per counter and latency bucket of each step',
  }),
  queueMetrics: hash('queue-metrics:<minute start>', '`<queue> <outcome>` → attempts of jobs that ended.', {
    owner: 'telemetry/metrics.ts',
    ttl: '10 min, renewed',
    size: '2 fields per queue',
  }),
  functionMetrics: hash(
    'function-metrics:<env>:<hour start>',
    '`<counter> <function ID>` → runs in that hour; `last <function ID>` → last start (ms).',
    {
      owner: 'telemetry/metrics.ts',
      ttl: '7 days + 2 h',
      size: '5 fields per function',
    },
  ),
  functionSeries: hash(
    'function-series:<env>:<step ms>:<block start>:<function>',
    '`<step within the block><letter>` → runs, or durations in a bucket.',
    {
      owner: 'telemetry/function-series.ts',
      ttl: '6 h, 1 day or 7 days by step, + 2 blocks',
      size: '10 steps, 1 field per counter and bucket',
    },
  ),
  stepSeries: hash(
    'step-series:<env>:<step ms>:<block start>:<function>',
    '`<step within the block>.<step number><letter>` → count.',
    {
      owner: 'telemetry/function-series.ts',
      ttl: '1 day or 7 days by step, + 2 blocks',
      size: '3 steps, 1 field per bucket of 51 function steps',
    },
  ),
  stepNumbers: hash('step-numbers:<env>:<day start>:<function>', 'Step name → its number that day.', {
    owner: 'telemetry/function-series.ts',
    ttl: '9 days, renewed',
    size: '50 fields of up to 100 characters',
  }),
  recentDurations: list(
    'recent-durations:<env>:<step>:<function>',
    '`<time>:<duration>` (ms) of the last runs or steps; `<step>`: digest of the name.',
    {
      owner: 'telemetry/recent-durations.ts',
      ttl: '7 days, renewed',
      size: '19 entries of 20 bytes, for 50 steps and the runs',
    },
  ),
  processes: zset('processes', 'Running processes by last heartbeat (ms).', {
    owner: 'telemetry/processes.ts',
    ttl: '10 s, renewed',
    size: '1 entry per process',
  }),
  liveWorkers: zset('live-workers', 'Workers that share the partitions, by last renewal (ms).', {
    owner: 'telemetry/live-workers.ts',
    ttl: '1 min, renewed',
    size: '1 entry per worker',
  }),
  archiveStatus: hash(
    'archive-status',
    'Partition → receipt (ms) of its oldest unarchived event that is due. `shipped`, `failed`: last shipments (ms).',
    { owner: 'telemetry/archive-status.ts', ttl: '30 days, renewed', size: '1 field per partition, and 2' },
  ),
  outboxStatus: hash('outbox-status', 'Outbox of an app: counts, and when its oldest event was added (ms).', {
    owner: 'telemetry/outbox-status.ts',
    ttl: '1 h, renewed',
    size: '6 fields',
  }),
  process: string('process:<process ID>', 'Running process, as JSON.', {
    owner: 'telemetry/processes.ts',
    ttl: '10 s, renewed',
    size: '1 JSON object',
  }),
  liveUpdates: channel('live-updates:<env>', 'What just happened in an environment.', {
    owner: 'telemetry/live-updates.ts',
    ttl: '–',
    size: '100 items per message',
  }),
  installationUpdates: channel('live-updates', 'What just happened in the installation.', {
    owner: 'telemetry/live-updates.ts',
    ttl: '–',
    size: '100 items per message',
  }),
};
