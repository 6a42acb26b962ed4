/** The number of jobs in each state of a queue, and the age of its backlog. */
import type { Job } from 'bullmq';
import { delayedUntil, QUEUE_KEYS } from '../../store/keys/bullmq.ts';
import type { PartitionQueues } from './partition-queues.ts';
import { INGEST, type IngestQueue, RUNS, type RunQueue, TIMERS, type TimerQueue } from './queues.ts';

type AnyQueue = IngestQueue | RunQueue | TimerQueue;

export interface QueueStatus {
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
  /** When the oldest waiting job became due, Unix milliseconds; undefined if none waits. */
  oldestWaitingAt: number | undefined;
}

/** The status of each kind of queue, over all partitions. */
export async function queueStatuses(
  queues: PartitionQueues,
  nowMs: number,
): Promise<(QueueStatus & { name: string })[]> {
  const sets = queues.all();
  const ofKind = async (name: string, some: readonly AnyQueue[]) => {
    const statuses = await Promise.all(some.map((queue) => queueStatus(queue, nowMs)));
    return { name, ...statuses.reduce(together) };
  };
  return Promise.all([
    ofKind(
      INGEST,
      sets.map(({ ingest }) => ingest),
    ),
    ofKind(
      RUNS,
      sets.map(({ runs }) => runs),
    ),
    ofKind(
      TIMERS,
      sets.map(({ timers }) => timers),
    ),
  ]);
}

function together(a: QueueStatus, b: QueueStatus): QueueStatus {
  const oldest = Math.min(a.oldestWaitingAt ?? Number.POSITIVE_INFINITY, b.oldestWaitingAt ?? Number.POSITIVE_INFINITY);
  return {
    waiting: a.waiting + b.waiting,
    active: a.active + b.active,
    delayed: a.delayed + b.delayed,
    failed: a.failed + b.failed,
    oldestWaitingAt: oldest === Number.POSITIVE_INFINITY ? undefined : oldest,
  };
}

async function queueStatus(queue: AnyQueue, nowMs: number): Promise<QueueStatus> {
  const [counts, [oldest], [oldestOfBranches], firstDelayed] = await Promise.all([
    queue.getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed'),
    queue.getJobs(['wait'], 0, 0, true),
    queue.getJobs(['prioritized'], 0, 0, true),
    firstDueAt(queue),
  ]);
  const { wait = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts;
  // A worker moves delayed jobs that are due to the waiting jobs; until then they are counted here as overdue.
  const overdue = firstDelayed !== undefined && firstDelayed < nowMs ? [firstDelayed] : [];
  const waiting = [oldest, oldestOfBranches].flatMap((job) => (job ? [waitingSince(job)] : []));
  const since = [...waiting, ...overdue];
  const oldestWaitingAt = since.length > 0 ? Math.min(...since) : undefined;
  return { waiting: wait + prioritized, active, delayed, failed, oldestWaitingAt };
}

async function firstDueAt(queue: AnyQueue): Promise<number | undefined> {
  const redis = await queue.getBackend().client;
  const [, score] = await redis.zrange(queue.toKey(QUEUE_KEYS.delayed), 0, 0, { WITHSCORES: true });
  return score === undefined ? undefined : delayedUntil(score);
}

/** BullMQ does not record when a retry became due; the time of its last attempt is used instead. */
function waitingSince(job: Pick<Job, 'timestamp' | 'opts' | 'finishedOn' | 'processedOn'>): number {
  return Math.max(job.timestamp + (job.opts.delay ?? 0), job.processedOn ?? 0, job.finishedOn ?? 0);
}
