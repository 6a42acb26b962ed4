/** `/v1/overview`: how the service is, at a glance. */
import { z } from 'zod';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import { queueStatus } from '../../jobs/queues/queue-status.ts';
import type { IngestQueue, RunQueue } from '../../jobs/queues/queues.ts';
import type { Functions } from '../../store/apps/functions.ts';
import type { Redis } from '../../store/redis/connection.ts';
import { readServerInfo } from '../../store/redis/server-info.ts';
import type { Metrics } from '../../store/telemetry/metrics.ts';
import { PROCESS_KINDS, type Processes, type ProcessStatus } from '../../store/telemetry/processes.ts';
import { type Route, route } from '../rest/route.ts';
import { time } from '../views/time.ts';

const DAY_MS = 86_400_000;
const MAX_FAILING = 10;

const processSchema = z.object({
  id: z.string(),
  kind: z.enum(PROCESS_KINDS),
  host: z.string(),
  pid: z.int(),
  started_at: z.iso.datetime(),
  seen_at: z.iso.datetime(),
  memory_bytes: z.int(),
});

const queueSchema = z.object({
  name: z.string(),
  waiting: z.int(),
  active: z.int(),
  delayed: z.int(),
  failed: z.int(),
  oldest_waiting_at: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'Since when the first in the queue could be done' }),
});

const redisSchema = z.object({
  version: z.string(),
  used_memory_bytes: z.int(),
  max_memory_bytes: z.int().nullable().meta({ description: 'null: as much as there is' }),
  maxmemory_policy: z.string(),
  appendonly: z.boolean(),
  appendfsync: z.string().nullable().meta({ description: 'null: this Redis does not tell' }),
  warnings: z.array(z.string()).meta({ description: 'What may lose something, and how to mend it' }),
});

const intakeSchema = z.object({
  open: z.boolean().meta({ description: 'false: senders are told to come later' }),
  full_since: z.iso.datetime().nullable(),
  reasons: z.array(z.string()).meta({ description: 'What is full, how full, and how to mend it' }),
});

const failingSchema = z.object({
  function_id: z.string(),
  name: z.string(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
});

export const overviewSchema = z
  .object({
    processes: z.array(processSchema).meta({ description: 'Those that are alive; a dead one is seen for 10 s' }),
    workers_alive: z.int().meta({ description: '0: events are accepted, and nothing is done with them' }),
    queues: z.array(queueSchema).meta({ description: 'Of all environments' }),
    redis: redisSchema,
    intake: intakeSchema,
    failing_functions: z.array(failingSchema).meta({ description: 'Of the last 24 hours; the most failed runs first' }),
  })
  .meta({ id: 'Overview' });

export interface OverviewRouteDeps {
  redis: Redis;
  processes: Processes;
  metrics: Metrics;
  functions: Functions;
  pressure: Backpressure;
  queues: [IngestQueue, RunQueue];
}

export function overviewRoutes(deps: OverviewRouteDeps): Route[] {
  const { redis, processes, metrics, functions, pressure, queues } = deps;
  /** The most failed runs first. */
  async function failing(env: string, nowMs: number) {
    const [counted, known] = await Promise.all([metrics.functions(env, nowMs - DAY_MS, nowMs), functions.all(env)]);
    const names = new Map(known.functions.map(({ id, name }) => [id, name]));
    return counted
      .filter(({ failed }) => failed > 0)
      .sort((a, b) => b.failed - a.failed || (a.functionId < b.functionId ? -1 : 1))
      .slice(0, MAX_FAILING)
      .map(({ functionId, completed, failed, cancelled }) => {
        return { function_id: functionId, name: names.get(functionId) ?? functionId, completed, failed, cancelled };
      });
  }

  return [
    route({
      method: 'get',
      path: '/v1/overview',
      tag: 'Overview',
      access: 'read',
      about: 'environment',
      summary: 'Read how the service is',
      description:
        'Processes, queues and Redis are those of the whole service; the functions are those of the environment.',
      data: overviewSchema,
      errors: [],
      async handle({ env }) {
        const nowMs = Date.now();
        const [alive, status, failingFunctions, ...queued] = await Promise.all([
          processes.alive(),
          readServerInfo(redis),
          failing(env, nowMs),
          ...queues.map(async (queue) => ({ name: queue.name, ...(await queueStatus(queue, nowMs)) })),
        ]);
        return {
          data: {
            processes: alive.map(presentProcess),
            workers_alive: alive.filter(({ kind }) => kind === 'worker').length,
            queues: queued.map(({ oldestWaitingAt, ...counts }) => ({
              ...counts,
              oldest_waiting_at: time(oldestWaitingAt),
            })),
            redis: {
              version: status.version,
              used_memory_bytes: status.usedMemoryBytes,
              max_memory_bytes: status.maxMemoryBytes ?? null,
              maxmemory_policy: status.maxmemoryPolicy,
              appendonly: status.appendonly,
              appendfsync: status.appendfsync ?? null,
              warnings: status.warnings,
            },
            intake: presentIntake(pressure),
            failing_functions: failingFunctions,
          },
        };
      },
    }),
  ];
}

function presentProcess({ id, kind, host, pid, startedAt, seenAt, memoryBytes }: ProcessStatus) {
  return { id, kind, host, pid, started_at: time(startedAt), seen_at: time(seenAt), memory_bytes: memoryBytes };
}

function presentIntake({ full, state: { since, reasons } }: Backpressure) {
  return { open: !full, full_since: time(since), reasons };
}
