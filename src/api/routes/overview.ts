/** `/v1/overview`: the state of the service at a glance. */
import { z } from 'zod';
import { ARCHIVE_STATES, type ArchiveHealthState } from '../../jobs/archive/archive-health.ts';
import { limitHolds } from '../../jobs/flow-control/limit-holds.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import { queueStatuses } from '../../jobs/queues/queue-status.ts';
import { DAY_MS, floorTo, MINUTE_MS } from '../../model/values/time.ts';
import { type ClusterInfo, readServerInfo } from '../../store/redis/connection/server-info.ts';
import type { OutboxReport } from '../../store/telemetry/outbox-status.ts';
import { PROCESS_KINDS } from '../../store/telemetry/processes.ts';
import { apiObject, textOrNull, time, timeOrNull, wholeOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { countOpenIssues } from '../rest/attention-counts.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { present } from '../views/present.ts';

const MAX_FAILING = 10;
/** Minimum wait that is reported: making calls wait for less is what limits are for. */
const HELD_MS = 5 * MINUTE_MS;
const MAX_HOLDS = 10;
const PROCESSED_MS = 5 * MINUTE_MS;

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
  processed: z
    .object({ since: z.iso.datetime(), completed: z.int(), failed: z.int() })
    .describe('Attempts of jobs that ended in the last five minutes and the present one, up to about a second ago'),
  oldest_waiting_at: timeOrNull.describe('When the first job in the queue became ready'),
});

const clusterSchema = z.object({
  primaries: z.int(),
  replicas: z.int(),
  hash_slots_not_served: z.int().describe('Hash slots without a node, of 16,384'),
  fullest: z
    .object({ address: z.string(), used_memory_bytes: z.int(), max_memory_bytes: wholeOrNull })
    .describe('The primary with the smallest share of free memory'),
});

const redisSchema = z.object({
  version: z.string(),
  used_memory_bytes: z.int(),
  max_memory_bytes: wholeOrNull.describe('null: no limit is set'),
  maxmemory_policy: z.string(),
  appendonly: z.boolean(),
  appendfsync: textOrNull.describe('null: this Redis does not report it'),
  warnings: z.array(z.string()).describe('Settings that risk data loss, and how to fix them'),
  cluster: clusterSchema
    .nullable()
    .describe('null: Redis is a single server. For a Redis Cluster, the memory above is the sum over all primaries'),
});

const intakeSchema = z.object({
  open: z.boolean().describe('false: requests are rejected with 429 or 503 and `Retry-After`'),
  full_since: timeOrNull,
  reasons: z.array(z.string()).describe('The exceeded limits, by how much, and how to fix it'),
});

const archiveSchema = z.object({
  state: z
    .enum(ARCHIVE_STATES)
    .describe(
      '`off`: there is no Postgres; `behind`: events have waited for more than 5 minutes beyond HOT_HOURS; `unavailable`: Postgres does not ' +
        'respond, and Redis keeps everything',
    ),
  behind_seconds: wholeOrNull.describe('How long events older than HOT_HOURS have waited'),
  room_seconds: wholeOrNull.describe(
    'Time until Redis is too full for new events at the present growth; null: Redis is not growing, has no limit, or it is too early to tell',
  ),
  reason: textOrNull.describe('Why the archive is unavailable'),
});

const outboxSchema = z
  .object({
    waiting: z.int(),
    lag_seconds: z.int().describe('How long the oldest event has waited; 0: none waits'),
    refused: z.int(),
    uncertain: z.int().describe('Events of which nobody can tell whether they were accepted'),
    bytes: z.int(),
    problem: textOrNull.describe('Why the rows could not be counted; the counts are then from before'),
  })
  .nullable()
  .describe("The outbox of an app's Postgres, up to 10 s ago; null: no worker has OUTBOX_DATABASE_URL");

const failingSchema = z.object({
  function_id: z.string(),
  name: z.string(),
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
});

const holdSchema = z.object({
  function_id: z.string(),
  name: z.string(),
  waiting: z.int().describe('Calls that wait for a limit of the function'),
  since: z.iso.datetime().describe('When the first of them began to wait'),
});

export const overviewSchema = apiObject('Overview', {
  processes: z.array(processSchema).describe('Number of live processes; a dead process is counted for up to 10 s'),
  workers_alive: z.int().describe('0: events are accepted but not processed'),
  queues: z.array(queueSchema).describe('Jobs of all environments'),
  redis: redisSchema,
  intake: intakeSchema,
  archive: archiveSchema,
  outbox: outboxSchema,
  failing_functions: z
    .array(failingSchema)
    .describe('Functions with failed runs in the last 24 hours, most failures first'),
  limit_holds: z
    .array(holdSchema)
    .describe('Functions of which a call has waited for a limit for 5 minutes, the longest wait first; at most 10'),
  paused_runs: z.int().describe('Runs that wait until a user resumes them'),
  open_webhook_issues: z
    .int()
    .describe('Issues of webhooks of the environment, or of all branches, that no user has acknowledged'),
});

const routes = routesOf({ tag: 'Overview', scope: 'environment' });

export function overviewRoutes(deps: ApiParts): Route[] {
  const {
    redis,
    processes,
    metrics,
    functions,
    backpressure,
    archiveHealth,
    queues,
    pausedRuns,
    outboxStatus,
    limitUsage,
  } = deps;

  const namesOf = async (env: string) =>
    new Map((await functions.all(env)).functions.map(({ id, name }) => [id, name] as const));

  async function longHolds(env: string, nowMs: number) {
    const long = (await limitHolds(env, limitUsage)).filter(({ since }) => nowMs - since >= HELD_MS);
    if (long.length === 0) return [];
    const names = await namesOf(env);
    return long.slice(0, MAX_HOLDS).map(({ functionId, waiting, since }) => {
      return { function_id: functionId, name: names.get(functionId) ?? functionId, waiting, since: time(since) };
    });
  }

  /** Most failed runs first. */
  async function failingFunctions(env: string, nowMs: number) {
    const [counted, names] = await Promise.all([metrics.functions(env, nowMs - DAY_MS, nowMs), namesOf(env)]);
    return counted
      .filter(({ failed }) => failed > 0)
      .sort((a, b) => b.failed - a.failed || (a.functionId < b.functionId ? -1 : 1))
      .slice(0, MAX_FAILING)
      .map(({ functionId, completed, failed, cancelled }) => {
        return { function_id: functionId, name: names.get(functionId) ?? functionId, completed, failed, cancelled };
      });
  }

  return [
    routes.get('/v1/overview', {
      operationId: 'getOverview',
      summary: 'Get the state of the service',
      description:
        'Processes, queues and Redis are those of the whole installation; functions, paused runs and issues of webhooks those of the environment.',
      data: overviewSchema,
      async handle({ env, accessTo }) {
        const nowMs = Date.now();
        const since = floorTo(nowMs - PROCESSED_MS, MINUTE_MS);
        const [alive, status, failing, queued, jobsOf, archive, outbox, holds, paused, openIssues] = await Promise.all([
          processes.alive(),
          readServerInfo(redis),
          failingFunctions(env, nowMs),
          queueStatuses(queues, nowMs),
          metrics.jobs(since, nowMs),
          archiveHealth.state(nowMs),
          outboxStatus.read(),
          longHolds(env, nowMs),
          pausedRuns.count([env]),
          countOpenIssues(env, accessTo, deps, nowMs),
        ]);
        return {
          data: {
            processes: alive.map((process) => present(processSchema, process)),
            workers_alive: alive.filter(({ kind }) => kind === 'worker').length,
            queues: queued.map((queue) =>
              present(queueSchema, queue, { processed: { since: time(since) as string, ...jobsOf(queue.name) } }),
            ),
            redis: present(redisSchema, status, { cluster: status.cluster ? presentCluster(status.cluster) : null }),
            intake: presentIntake(backpressure),
            archive: presentArchive(archive),
            outbox: outbox ? presentOutbox(outbox, nowMs) : null,
            failing_functions: failing,
            limit_holds: holds,
            paused_runs: paused,
            open_webhook_issues: openIssues,
          },
        };
      },
    }),
  ];
}

function presentCluster(cluster: ClusterInfo) {
  return present(clusterSchema, cluster, { hash_slots_not_served: cluster.unservedHashSlots });
}

function presentIntake({ full, state: { since, reasons } }: Backpressure) {
  return { open: !full, full_since: time(since), reasons };
}

function presentOutbox({ waiting, refused, uncertain, oldestAt, bytes, problem }: OutboxReport, nowMs: number) {
  const lag = Math.max(0, Math.round((nowMs - (oldestAt ?? nowMs)) / 1_000));
  return { waiting, lag_seconds: lag, refused, uncertain, bytes, problem: problem ?? null };
}

function presentArchive({ state, behindMs, roomMs, reason }: ArchiveHealthState) {
  const seconds = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms / 1_000));
  return { state, behind_seconds: seconds(behindMs), room_seconds: seconds(roomMs), reason: reason ?? null };
}
