/** How full a queue is, and for how long its first job has waited. */
import type { Job } from 'bullmq';
import { DELAYED_SCORE_PER_MS, type IngestQueue, type RunQueue } from './queues.ts';

export interface QueueStatus {
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
  /** Since when the first could be done, Unix milliseconds; undefined: none waits. */
  oldestWaitingAt: number | undefined;
}

export async function queueStatus(queue: IngestQueue | RunQueue, nowMs: number): Promise<QueueStatus> {
  const [counts, [oldest], [oldestOfBranches], due] = await Promise.all([
    queue.getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed'),
    queue.getJobs(['wait'], 0, 0, true),
    queue.getJobs(['prioritized'], 0, 0, true),
    firstDue(queue),
  ]);
  const { wait = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts;
  // A delayed job joins those that wait when a worker has looked: until then it is overdue where it is.
  const overdue = due !== undefined && due < nowMs ? [due] : [];
  const first = [oldest, oldestOfBranches].flatMap((job) => (job ? [waitingSince(job)] : []));
  const since = [...first, ...overdue];
  const oldestWaitingAt = since.length > 0 ? Math.min(...since) : undefined;
  return { waiting: wait + prioritized, active, delayed, failed, oldestWaitingAt };
}

async function firstDue(queue: IngestQueue | RunQueue): Promise<number | undefined> {
  const redis = await queue.getBackend().client;
  const [, score] = await redis.zrange(queue.toKey('delayed'), 0, 0, { WITHSCORES: true });
  return score === undefined ? undefined : Math.floor(Number(score) / DELAYED_SCORE_PER_MS);
}

/** Of one that is tried again it is not known when its delay ended; it was last at work then. */
function waitingSince(job: Pick<Job, 'timestamp' | 'opts' | 'finishedOn' | 'processedOn'>): number {
  return Math.max(job.timestamp + (job.opts.delay ?? 0), job.processedOn ?? 0, job.finishedOn ?? 0);
}
