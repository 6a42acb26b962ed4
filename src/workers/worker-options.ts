/** Options shared by the workers of all queues. */
import type { Job, Worker } from 'bullmq';
import type { Config } from '../config.ts';
import type { SharedQueueOptions } from '../jobs/queues/partition-queues.ts';
import type { Logger } from '../log.ts';
import { takeOverOf } from './take-over.ts';

const RETRY_MS = 1_000;
/** Maximum length of a logged error, because an error of an app may have any length. */
const LOGGED_LENGTH = 1_000;
/** Maximum time between two tries of a job that does not call apps. */
const RETRY_MAX_MS = 60_000;

export function workerOptions({ stalledAfterMs }: Config, queueOptions: SharedQueueOptions, prefix: string) {
  const { lockMs, renewMs, checkMs } = takeOverOf(stalledAfterMs);
  return {
    ...queueOptions,
    prefix,
    autorun: false,
    // Delay after an error of Redis; BullMQ's default is 15 s.
    runRetryDelay: RETRY_MS,
    lockDuration: lockMs,
    lockRenewTime: renewMs,
    stalledInterval: checkMs,
    // BullMQ must not fail jobs because of dead workers; poison-jobs.ts decides about these jobs.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
  };
}

export function exponentialBackoff(attempts = 1): number {
  return Math.min(1_000 * 2 ** Math.min(attempts, 10), RETRY_MAX_MS);
}

export function logJobs<Data>(
  worker: Worker<Data, void>,
  log: Logger,
  detailsOf: (job: Job<Data>) => Record<string, unknown>,
): void {
  if (log.isLevelEnabled('debug')) worker.on('completed', (job) => log.debug(detailsOf(job), 'job completed'));
  worker.on('failed', (job, error) =>
    log.warn({ ...(job && detailsOf(job)), err: error.message.slice(0, LOGGED_LENGTH) }, 'job failed'),
  );
  worker.on('stalled', (jobId) =>
    log.warn(
      { queue: worker.name, job: jobId },
      'job stalled: its worker lost the lock, and this worker takes it over',
    ),
  );
  worker.on('error', (error) => log.warn({ queue: worker.name, err: error.message }, 'worker error'));
}
