/** Binds the queues to their handlers. A worker that dies leaves its jobs locked; another takes them up when the lock runs out. */
import { type Job, Worker } from 'bullmq';
import type { Config } from '../config.ts';
import { type IngestDeps, ingest } from '../jobs/ingestion/ingest.ts';
import {
  INGEST,
  type IngestJob,
  type IngestQueue,
  KEPT,
  type QueueOptions,
  RUNS,
  type RunJob,
} from '../jobs/queues/queues.ts';
import { type CallDeps, call } from '../jobs/runs/call.ts';
import type { CallLimiter } from '../jobs/runs/call-limiter.ts';
import { AttemptFailed } from '../jobs/runs/service-errors.ts';
import { type WakeDeps, wake } from '../jobs/runs/wake.ts';
import type { Logger } from '../log.ts';
import type { MetricsRecorder } from '../metrics/recorder.ts';
import { retryDelayMs } from '../model/runs/retry.ts';
import type { EnvironmentKinds } from '../store/environments/environment-kinds.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { ownerOf, withCallLimits } from './call-admission.ts';
import { measured } from './job-metrics.ts';
import { JobRelease } from './job-release.ts';
import { extendingLock } from './lock-extension.ts';
import { PoisonJobs } from './poison-jobs.ts';
import { delayingDuringOutage } from './store-outage.ts';
import { ingestTraced, runTraced } from './traced-jobs.ts';

const INGEST_RETRY_MAX_MS = 60_000;
const WAKE_RETRY_MS = 1_000;
/** For what is handed back to reach Redis. */
const HAND_BACK_MS = 2_000;
/** Characters of an error in the log; an app's may have any number. */
const LOGGED = 1_000;

export interface Workers {
  ready(): Promise<void>;
  /** Takes no more jobs and waits for those at work. What is not done in time is handed back, and repeated by other workers. */
  close(): Promise<void>;
}

export interface WorkerDeps extends IngestDeps, CallDeps, WakeDeps {
  ingestQueue: IngestQueue;
  gate: CallLimiter;
  environmentKinds: EnvironmentKinds;
}

export function startWorkers(
  config: Config,
  queues: QueueOptions,
  deps: WorkerDeps,
  log: Logger,
  meter: MetricsRecorder,
  tracing?: Tracing,
): Workers {
  const shared = {
    ...queues,
    lockDuration: config.stalledAfterMs,
    stalledInterval: config.stalledAfterMs,
    // A job is never given up because workers died over it; which are, poison-jobs.ts decides.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
  };
  const ingestBatch = ingestHandler(deps, tracing);
  const suspects = new PoisonJobs(deps.ingestQueue, log, meter);
  const ingestCounted = (job: Job<IngestJob>) => {
    meter.ingestJobStarted(job.data.events.length);
    return suspects.handle(job, ingestBatch);
  };
  const ingestWorker = new Worker<IngestJob, void>(INGEST, measured(INGEST, ingestCounted, meter), {
    ...shared,
    ...KEPT[INGEST],
    concurrency: config.ingestConcurrency,
    settings: { backoffStrategy: (tries = 1) => Math.min(1_000 * 2 ** Math.min(tries, 10), INGEST_RETRY_MAX_MS) },
  });
  const { gate } = deps;
  const handBack = new JobRelease();
  const inTurn = withCallLimits(gate, ownerOf(deps), measured(RUNS, runHandler(deps, tracing), meter));
  const runWorker = new Worker<RunJob, void>(
    RUNS,
    handBack.over(extendingLock(delayingDuringOutage(inTurn, log), config.stalledAfterMs)),
    {
      ...shared,
      ...KEPT[RUNS],
      ...(tracing && { telemetry: tracing.jobs }),
      concurrency: config.runConcurrency,
      settings: { backoffStrategy: (tries = 1, _type, error, job) => delayAfter(tries, error, job, config.retryScale) },
    },
  );
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
    close() {
      gate.close();
      return closeAll(all, config.shutdownGraceMs, () => giveUp(handBack, deps, log));
    },
  };
}

function ingestHandler(deps: IngestDeps, tracing?: Tracing): (job: Job<IngestJob>) => Promise<void> {
  return tracing ? (job) => ingestTraced(job, deps, tracing) : (job) => ingest(job.data.events, deps);
}

function runHandler(deps: CallDeps & WakeDeps, tracing?: Tracing): (job: Job<RunJob>) => Promise<void> {
  return tracing ? (job) => runTraced(job, tracing, () => runJob(job, deps)) : (job) => runJob(job, deps);
}

function runJob({ data, timestamp, attemptsMade, opts }: Job<RunJob>, deps: CallDeps & WakeDeps): Promise<void> {
  const tries = { before: attemptsMade, max: opts.attempts ?? 1 };
  if (data.kind === 'wake') return wake(data, tries, deps);
  return call(data, timestamp, tries, deps);
}

function delayAfter(
  tries: number,
  error: Error | undefined,
  job: { data?: RunJob } | undefined,
  scale: number,
): number {
  if (job?.data?.kind === 'wake') return WAKE_RETRY_MS * 2 ** tries;
  const asked = error instanceof AttemptFailed ? error.retryAfterMs : undefined;
  return asked ?? retryDelayMs(tries, Math.random(), scale);
}

function logOutcomes<Data>(
  worker: Worker<Data, void>,
  log: Logger,
  facts: (job: Job<Data>) => Record<string, unknown>,
): void {
  if (log.isLevelEnabled('debug')) worker.on('completed', (job) => log.debug(facts(job), 'job done'));
  worker.on('failed', (job, error) =>
    log.warn({ ...(job && facts(job)), err: error.message.slice(0, LOGGED) }, 'job failed'),
  );
  worker.on('stalled', (jobId) =>
    log.warn({ queue: worker.name, job: jobId }, 'job taken up from a worker that fell silent'),
  );
  worker.on('error', (error) => log.warn({ queue: worker.name, err: error.message }, 'worker'));
}

/** Calls that are still at work are abandoned, and their jobs handed back. */
function giveUp(handBack: JobRelease, { caller }: Pick<CallDeps, 'caller'>, log: Logger): void {
  caller.abandon();
  const jobs = handBack.all();
  if (jobs > 0) log.warn({ jobs }, 'calls that were still at work are handed to other workers');
}

/** Resolves, whatever Redis does, soon after the grace. */
async function closeAll(workers: Pick<Worker, 'close'>[], graceMs: number, giveUp: () => void): Promise<void> {
  const timers: NodeJS.Timeout[] = [];
  const late = new Promise<void>((resolve) => {
    timers.push(setTimeout(giveUp, graceMs), setTimeout(resolve, graceMs + HAND_BACK_MS));
  });
  await Promise.race([late, Promise.all(workers.map((worker) => worker.close()))]);
  for (const timer of timers) clearTimeout(timer);
}
