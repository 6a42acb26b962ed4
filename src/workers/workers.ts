/** Binds the queues to their handlers. A worker that dies leaves its jobs locked; another takes them up when the lock runs out. */
import { type Job, Worker } from 'bullmq';
import type { Config } from '../config.ts';
import { type IngestDeps, ingest } from '../jobs/ingest.ts';
import { INGEST, type IngestJob, type QueueOptions, RUNS, type RunJob } from '../jobs/queues.ts';
import { AttemptFailed, callForRun, type RunDeps } from '../jobs/runs.ts';
import type { Logger } from '../log.ts';
import { retryDelayMs } from '../model/retry.ts';

const INGEST_RETRY_MAX_MS = 60_000;
/** Heroku kills a process 30 s after it asked it to end. */
const SHUTDOWN_GRACE_MS = 20_000;

export interface Workers {
  ready(): Promise<void>;
  /** Takes no more jobs and waits for those at work. What is not done in time is left to other workers, which repeat it. */
  close(): Promise<void>;
}

export function startWorkers(config: Config, queues: QueueOptions, deps: IngestDeps & RunDeps, log: Logger): Workers {
  const shared = {
    ...queues,
    lockDuration: config.stalledAfterMs,
    stalledInterval: config.stalledAfterMs,
    // A job is never given up because workers died over it.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
  };
  const ingestWorker = new Worker<IngestJob, void>(INGEST, (job) => ingest(job.data.events, deps), {
    ...shared,
    concurrency: config.ingestConcurrency,
    settings: { backoffStrategy: (tries = 1) => Math.min(1_000 * 2 ** Math.min(tries, 10), INGEST_RETRY_MAX_MS) },
  });
  const runWorker = new Worker<RunJob, void>(
    RUNS,
    (job) => callForRun(job.data, { before: job.attemptsMade, max: job.opts.attempts ?? 1 }, deps),
    {
      ...shared,
      concurrency: config.runConcurrency,
      settings: { backoffStrategy: (tries = 1, _type, error) => delayAfter(tries, error, config.retryScale) },
    },
  );
  logOutcomes(ingestWorker, log, (job) => ({
    queue: INGEST,
    job: job.id,
    events: (job.data as IngestJob).events.length,
  }));
  logOutcomes(runWorker, log, (job) => ({
    queue: RUNS,
    run_id: (job.data as RunJob).runId,
    request_id: (job.data as RunJob).requestId,
    function_id: job.name,
    attempt: job.attemptsMade,
  }));
  const all = [ingestWorker, runWorker];
  return {
    ready: async () => void (await Promise.all(all.map((worker) => worker.waitUntilReady()))),
    close: () => closeAll(all, log),
  };
}

function delayAfter(tries: number, error: Error | undefined, scale: number): number {
  const asked = error instanceof AttemptFailed ? error.retryAfterMs : undefined;
  return asked ?? retryDelayMs(tries, Math.random(), scale);
}

function logOutcomes(worker: Worker, log: Logger, facts: (job: Job) => Record<string, unknown>): void {
  worker.on('completed', (job) => log.debug(facts(job), 'job done'));
  worker.on('failed', (job, error) => log.warn({ ...(job && facts(job)), err: error.message }, 'job failed'));
  worker.on('stalled', (jobId) =>
    log.warn({ queue: worker.name, job: jobId }, 'job taken up from a worker that fell silent'),
  );
  worker.on('error', (error) => log.warn({ queue: worker.name, err: error.message }, 'worker'));
}

async function closeAll(workers: Worker[], log: Logger): Promise<void> {
  const deadline = setTimeout(() => {
    log.warn('jobs still at work are left to other workers');
    for (const worker of workers) void worker.close(true);
  }, SHUTDOWN_GRACE_MS);
  await Promise.all(workers.map((worker) => worker.close()));
  clearTimeout(deadline);
}
