/** Binds the queues to their handlers. A worker that dies leaves its jobs locked; another takes them up when the lock runs out. */
import { type Job, Worker } from 'bullmq';
import type { Config } from '../config.ts';
import type { Meter } from '../instruments/meter.ts';
import { AttemptFailed, type CallDeps, call } from '../jobs/call.ts';
import { type IngestDeps, ingest } from '../jobs/ingest.ts';
import { INGEST, type IngestJob, KEPT, type QueueOptions, RUNS, type RunJob } from '../jobs/queues.ts';
import { type WakeDeps, wake } from '../jobs/wake.ts';
import type { Logger } from '../log.ts';
import { retryDelayMs } from '../model/retry.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { measured } from './measured.ts';
import { ingestTraced, runTraced } from './traced-jobs.ts';

const INGEST_RETRY_MAX_MS = 60_000;
const WAKE_RETRY_MS = 1_000;
/** Heroku kills a process 30 s after it asked it to end. */
const SHUTDOWN_GRACE_MS = 20_000;

export interface Workers {
  ready(): Promise<void>;
  /** Takes no more jobs and waits for those at work. What is not done in time is left to other workers, which repeat it. */
  close(): Promise<void>;
}

export function startWorkers(
  config: Config,
  queues: QueueOptions,
  deps: IngestDeps & CallDeps & WakeDeps,
  log: Logger,
  meter: Meter,
  tracing?: Tracing,
): Workers {
  const shared = {
    ...queues,
    lockDuration: config.stalledAfterMs,
    stalledInterval: config.stalledAfterMs,
    // A job is never given up because workers died over it.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
  };
  const ingestBatch = ingestHandler(deps, tracing);
  const ingestCounted = (job: Job<IngestJob>) => {
    meter.ingestBatch(job.data.events.length);
    return ingestBatch(job);
  };
  const ingestWorker = new Worker<IngestJob, void>(INGEST, measured(INGEST, ingestCounted, meter), {
    ...shared,
    ...KEPT[INGEST],
    concurrency: config.ingestConcurrency,
    settings: { backoffStrategy: (tries = 1) => Math.min(1_000 * 2 ** Math.min(tries, 10), INGEST_RETRY_MAX_MS) },
  });
  const runWorker = new Worker<RunJob, void>(RUNS, measured(RUNS, runHandler(deps, tracing), meter), {
    ...shared,
    ...KEPT[RUNS],
    ...(tracing && { telemetry: tracing.jobs }),
    concurrency: config.runConcurrency,
    settings: { backoffStrategy: (tries = 1, _type, error, job) => delayAfter(tries, error, job, config.retryScale) },
  });
  logOutcomes(ingestWorker, log, (job) => ({ queue: INGEST, job: job.id, events: job.data.events.length }));
  logOutcomes(runWorker, log, ({ id, data, attemptsMade }) => {
    const { runId, requestId, functionId } = data;
    return {
      queue: RUNS,
      job: id,
      run_id: runId,
      request_id: requestId,
      function_id: functionId,
      attempt: attemptsMade,
    };
  });
  const all = [ingestWorker, runWorker];
  for (const worker of all) worker.on('stalled', () => meter.jobStalled(worker.name));
  return {
    ready: async () => void (await Promise.all(all.map((worker) => worker.waitUntilReady()))),
    close: () => closeAll(all, log),
  };
}

function ingestHandler(deps: IngestDeps, tracing?: Tracing): (job: Job<IngestJob>) => Promise<void> {
  return tracing ? (job) => ingestTraced(job, deps, tracing) : (job) => ingest(job.data.events, deps);
}

function runHandler(deps: CallDeps & WakeDeps, tracing?: Tracing): (job: Job<RunJob>) => Promise<void> {
  return tracing ? (job) => runTraced(job, tracing, () => runJob(job, deps)) : (job) => runJob(job, deps);
}

function runJob({ data, timestamp, attemptsMade, opts }: Job<RunJob>, deps: CallDeps & WakeDeps): Promise<void> {
  if (data.kind === 'wake') return wake(data, deps);
  return call(data, timestamp, { before: attemptsMade, max: opts.attempts ?? 1 }, deps);
}

function delayAfter(
  tries: number,
  error: Error | undefined,
  job: { data?: RunJob } | undefined,
  scale: number,
): number {
  if (job?.data?.kind === 'wake') return WAKE_RETRY_MS;
  const asked = error instanceof AttemptFailed ? error.retryAfterMs : undefined;
  return asked ?? retryDelayMs(tries, Math.random(), scale);
}

function logOutcomes<Data>(
  worker: Worker<Data, void>,
  log: Logger,
  facts: (job: Job<Data>) => Record<string, unknown>,
): void {
  if (log.isLevelEnabled('debug')) worker.on('completed', (job) => log.debug(facts(job), 'job done'));
  worker.on('failed', (job, error) => log.warn({ ...(job && facts(job)), err: error.message }, 'job failed'));
  worker.on('stalled', (jobId) =>
    log.warn({ queue: worker.name, job: jobId }, 'job taken up from a worker that fell silent'),
  );
  worker.on('error', (error) => log.warn({ queue: worker.name, err: error.message }, 'worker'));
}

async function closeAll(workers: Pick<Worker, 'close'>[], log: Logger): Promise<void> {
  const deadline = setTimeout(() => {
    log.warn('jobs still at work are left to other workers');
    for (const worker of workers) void worker.close(true);
  }, SHUTDOWN_GRACE_MS);
  await Promise.all(workers.map((worker) => worker.close()));
  clearTimeout(deadline);
}
