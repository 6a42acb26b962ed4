/** The worker that stores events and starts their runs. */
import type { Job } from 'bullmq';
import type { Config } from '../config.ts';
import { CoalescedIngestion } from '../jobs/ingestion/coalesced-ingestion.ts';
import { type IngestDeps, ingest } from '../jobs/ingestion/ingest.ts';
import type { PartitionQueues, SharedQueueOptions } from '../jobs/queues/partition-queues.ts';
import { INGEST, type IngestJob, JOB_RETENTION } from '../jobs/queues/queues.ts';
import type { Logger } from '../log.ts';
import type { JobLists } from '../store/redis/job-lists.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { JobEnds } from './job-ends.ts';
import { type JobMetrics, withMetrics, withOutageDelay } from './job-middleware.ts';
import { PoisonJobs } from './poison-jobs.ts';
import { ThrottledWorker } from './throttled-worker.ts';
import { traceIngest } from './traced-jobs.ts';
import type { WakeUps } from './wake-ups.ts';
import type { WatchedWorker } from './watched-worker.ts';
import { exponentialBackoff, logJobs, workerOptions } from './worker-options.ts';

interface IngestWorkerDeps extends JobMetrics {
  config: Config;
  queueOptions: SharedQueueOptions;
  queues: PartitionQueues;
  jobLists: Pick<JobLists, 'take' | 'finish'>;
  handlers: IngestDeps;
  log: Logger;
  tracing: Tracing | undefined;
}

export function createIngestWorker(
  partition: number,
  { config, queueOptions, queues, jobLists, handlers: deps, log, recorder, telemetry, tracing }: IngestWorkerDeps,
  wakeUps: Pick<WakeUps, 'yieldTo'>,
): WatchedWorker<IngestJob> {
  const coalesced = new CoalescedIngestion({
    ingest: (events) => ingest(events, deps),
    concurrency: () => worker.capacity,
  });
  const ingestJob = (job: Job<IngestJob>) => {
    if (tracing) return traceIngest(job, deps, tracing);
    return isSuspect(job) ? ingest(job.data.events, deps) : coalesced.run(job.data.events);
  };
  const { ingest: queue } = queues.partition(partition);
  const poisonJobs = new PoisonJobs({
    queue: { addBulk: (jobs) => deps.replicated(() => queue.addBulk(jobs)) },
    log,
    recorder,
  });
  const handler = (job: Job<IngestJob>) => {
    recorder.ingestJobStarted(job.data.events.length);
    return poisonJobs.handle(job, ingestJob);
  };
  const worker: ThrottledWorker = new ThrottledWorker(
    INGEST,
    withOutageDelay(withMetrics(INGEST, wakeUps.yieldTo(handler), { recorder, telemetry }), log),
    {
      ...workerOptions(config, queueOptions, queues.prefixOf(partition)),
      ...JOB_RETENTION[INGEST],
      concurrency: config.ingestConcurrency,
      settings: {
        backoffStrategy: exponentialBackoff,
      },
    },
  );
  new JobEnds(worker, jobLists);
  logJobs(worker, log, ({ id, data }) => ({ queue: INGEST, job: id, events: data.events.length }));
  return worker;
}

/** A job that failed or stalled before is ingested by itself. */
function isSuspect({ data, attemptsMade, stalledCounter }: Job<IngestJob>): boolean {
  return data.isolated === true || attemptsMade > 0 || stalledCounter > 0;
}
