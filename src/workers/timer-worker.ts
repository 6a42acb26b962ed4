/** Worker of a partition's timers. They have their own queue, so that no backlog of calls delays them. */
import type { Job } from 'bullmq';
import type { Config } from '../config.ts';
import { dueAtOf, SCHEDULER_SETTINGS } from '../jobs/queues/job-schedulers.ts';
import type { PartitionQueues, SharedQueueOptions } from '../jobs/queues/partition-queues.ts';
import { JOB_RETENTION, TIMERS, type TimerJob } from '../jobs/queues/queues.ts';
import { handleTimer, type TimerHandlers } from '../jobs/timers/timer-handlers.ts';
import type { Logger } from '../log.ts';
import type { Durability } from '../store/redis/durability/durable-write.ts';
import { type JobMetrics, withMetrics, withOutageDelay, withReplication } from './job-middleware.ts';
import { WatchedWorker } from './watched-worker.ts';
import { exponentialBackoff, logJobs, workerOptions } from './worker-options.ts';

/** All schedules of a full minute are due together, and timers handled together share round trips. */
const CONCURRENCY = 400;

export interface TimerWorkerDeps extends JobMetrics {
  config: Config;
  queueOptions: SharedQueueOptions;
  queues: PartitionQueues;
  handlers: TimerHandlers;
  durability: Durability | undefined;
  log: Logger;
}

export function createTimerWorker(
  partition: number,
  { config, queueOptions, queues, handlers, durability, log, recorder, telemetry }: TimerWorkerDeps,
): WatchedWorker<TimerJob> {
  const handler = (job: Job<TimerJob>) => handleTimer(job.data, dueAtOf(job), job.attemptsStarted, handlers);
  const replicated = withReplication(withMetrics(TIMERS, handler, { recorder, telemetry }), durability);
  const worker = new WatchedWorker<TimerJob>(TIMERS, withOutageDelay(replicated, log), {
    ...workerOptions(config, queueOptions, queues.prefixOf(partition)),
    ...JOB_RETENTION[TIMERS],
    concurrency: CONCURRENCY,
    settings: { backoffStrategy: exponentialBackoff, ...SCHEDULER_SETTINGS },
  });
  logJobs(worker, log, ({ id, data }) => ({ queue: TIMERS, job: id, ...data }));
  return worker;
}
