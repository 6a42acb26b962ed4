/** Binds the queues to their handlers. A worker that dies leaves its jobs locked; another worker takes them over when
 *  the locks expire. */
import type { Job } from 'bullmq';
import type { Config } from '../config.ts';
import type { FunctionClient } from '../functions/function-client.ts';
import type { IngestDeps } from '../jobs/ingestion/ingest.ts';
import type { PartitionQueues, SharedQueueOptions } from '../jobs/queues/partition-queues.ts';
import { JOB_RETENTION, RUNS, type RunJob, readCallJob } from '../jobs/queues/queues.ts';
import type { AdmittedCalls } from '../jobs/runs/admission/admitted-calls.ts';
import type { CallLimiter } from '../jobs/runs/admission/call-limiter.ts';
import { type CallDeps, call } from '../jobs/runs/calls/call-job.ts';
import { AttemptFailed } from '../jobs/runs/calls/service-errors.ts';
import { makeRequest, type RequestDeps } from '../jobs/runs/steps/request-job.ts';
import { type WakeDeps, wake } from '../jobs/runs/steps/wake-job.ts';
import type { TimerHandlers } from '../jobs/timers/timer-handlers.ts';
import type { Logger } from '../log.ts';
import { retryDelayMs } from '../model/runs/retry.ts';
import type { Durability } from '../store/redis/durability/durable-write.ts';
import type { JobLists, JobTaker } from '../store/redis/job-lists.ts';
import type { Loaded } from '../store/runs/loaded-run.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { AddedJobs } from './added-jobs.ts';
import {
  type Connector,
  calledFunction,
  MissingVersions,
  type OwnerDeps,
  ownerOf,
  withCallLimits,
} from './call-admission.ts';
import { withPermits } from './call-permits.ts';
import { createIngestWorker } from './ingest-worker.ts';
import { JobEnds } from './job-ends.ts';
import {
  type JobMetrics,
  JobRelease,
  withLockExtension,
  withMetrics,
  withOutageDelay,
  withReplication,
} from './job-middleware.ts';
import { ResilientWorker } from './resilient-worker.ts';
import { takeOverOf } from './take-over.ts';
import { createTimerWorker } from './timer-worker.ts';
import { traceCallOrWake } from './traced-jobs.ts';
import { isWakeUp, WakeUps } from './wake-ups.ts';
import { WatchedWorker } from './watched-worker.ts';
import { logJobs, workerOptions } from './worker-options.ts';

const WAKE_RETRY_MS = 1_000;
/** Time for released jobs to reach Redis. */
const RELEASE_MS = 2_000;

export interface Workers {
  /** Partitions that it works on. */
  readonly partitions: readonly number[];
  /** Sets its partitions; it takes no more jobs of others. */
  assign(partitions: readonly number[]): void;
  ready(): Promise<void>;
  /** Stops taking jobs and waits for active ones. Jobs that exceed the grace period are released for other workers. */
  close(): Promise<void>;
}

export interface WorkersDeps extends JobMetrics {
  config: Config;
  queueOptions: SharedQueueOptions;
  queues: PartitionQueues;
  jobLists: Pick<JobLists, 'take' | 'finish'>;
  /** Gets the workers that take jobs when they are added, by partition. */
  jobTakers: Map<number, JobTaker<Loaded>>;
  isCluster: boolean;
  /** Dependencies of each kind of job. */
  handlers: {
    ingest: IngestDeps;
    call: CallDeps & { functionClient: FunctionClient };
    wake: WakeDeps;
    request: RequestDeps;
    timers: TimerHandlers;
  };
  callLimiter: CallLimiter;
  admittedCalls: AdmittedCalls;
  callOwner: OwnerDeps;
  connector: Connector;
  durability: Durability | undefined;
  log: Logger;
  tracing: Tracing | undefined;
}

/** The workers of one partition. */
interface PartitionWorkers {
  ingest: ResilientWorker;
  runs: ResilientWorker;
  timers: ResilientWorker;
}

/** Minimum number of ingest jobs that a worker process of many partitions runs concurrently in each, because its other partitions may
 *  have none. The call limiter bounds the calls of all partitions together. */
const INGEST_CONCURRENCY_MIN = 4;

export function startWorkers(deps: WorkersDeps): Workers {
  const { config, callLimiter, handlers, recorder, log } = deps;
  const jobRelease = new JobRelease();
  const wakeUps = new WakeUps(config.runConcurrency);
  const assigned = new Map<number, PartitionWorkers>();
  /** Workers of partitions that another process has taken over; they finish their jobs. */
  const leaving = new Set<ResilientWorker>();
  let isClosing = false;

  const start = (partition: number) => {
    const lasting = <Data>(create: () => WatchedWorker<Data>) => {
      const created = () => {
        const worker = create();
        worker.on('stalled', () => recorder.jobStalled(worker.name));
        return worker;
      };
      return new ResilientWorker(created, deps.isCluster, log);
    };
    assigned.set(partition, {
      ingest: lasting(() => createIngestWorker(partition, { ...deps, handlers: handlers.ingest }, wakeUps)),
      runs: lasting(() => createRunWorker(partition, deps, wakeUps, jobRelease)),
      timers: lasting(() => createTimerWorker(partition, { ...deps, handlers: handlers.timers })),
    });
  };
  const stop = (partition: number) => {
    const workers = assigned.get(partition) as PartitionWorkers;
    assigned.delete(partition);
    deps.jobTakers.delete(partition);
    for (const worker of allOf(workers)) {
      leaving.add(worker);
      const left = () => leaving.delete(worker);
      worker.close().then(left, left);
    }
  };
  const releaseAll = () => {
    handlers.call.functionClient.abandon();
    handlers.request.requestClient.abandon();
    const jobs = jobRelease.releaseAll();
    if (jobs > 0) log.warn({ jobs }, 'active calls are abandoned and their jobs released');
  };
  const running = () => [...[...assigned.values()].flatMap(allOf), ...leaving];
  return {
    get partitions() {
      return [...assigned.keys()];
    },
    assign(partitions) {
      if (isClosing) return;
      const wanted = new Set(partitions);
      for (const partition of assigned.keys()) if (!wanted.has(partition)) stop(partition);
      for (const partition of wanted) if (!assigned.has(partition)) start(partition);
      for (const { ingest } of assigned.values()) {
        ingest.concurrency = shareOf(config.ingestConcurrency, wanted.size);
      }
    },
    ready: async () => void (await Promise.all(running().map((worker) => worker.waitUntilReady()))),
    close() {
      isClosing = true;
      callLimiter.close();
      return closeAll(running(), config.shutdownGraceMs, releaseAll);
    },
  };
}

function allOf({ ingest, runs, timers }: PartitionWorkers): ResilientWorker[] {
  return [ingest, runs, timers];
}

function shareOf(concurrency: number, partitions: number): number {
  return Math.max(Math.min(concurrency, INGEST_CONCURRENCY_MIN), Math.ceil(concurrency / Math.max(1, partitions)));
}

function createRunWorker(
  partition: number,
  {
    config,
    queueOptions,
    queues,
    jobLists,
    jobTakers,
    handlers,
    callLimiter,
    admittedCalls,
    callOwner,
    connector,
    durability,
    log,
    recorder,
    telemetry,
    tracing,
  }: WorkersDeps,
  wakeUps: WakeUps,
  jobRelease: JobRelease,
): WatchedWorker<RunJob> {
  const wakeUpClient = wakeUps.callsOf(handlers.call.functionClient);
  const otherClient = wakeUps.otherCallsOf(handlers.call.functionClient);
  const runJob = (job: Job<RunJob>) => {
    const { data, timestamp, attemptsMade, attemptsStarted, opts } = job;
    const before = attemptsBefore(data);
    const attempts = { made: before + attemptsMade, max: before + (opts.attempts ?? 1), executions: attemptsStarted };
    if (data.kind === 'request') return makeRequest(data, timestamp, attempts, handlers.request);
    if (data.kind === 'wake') return wake(data, attempts, handlers.wake);
    // If a replica may take over, a job ends once the replica has the end of its run.
    const jobEnd = durability?.isReplicated ? undefined : jobEnds.of(job);
    const callJob = readCallJob(data);
    if (isWakeUp(job)) {
      const dueAt = timestamp + (opts.delay ?? 0);
      return call(callJob, dueAt, attempts, handlers.call, { jobEnd, functionClient: wakeUpClient });
    }
    const started = addedJobs.startOf(job)?.loaded;
    return call(callJob, timestamp, attempts, handlers.call, { jobEnd, started, functionClient: otherClient });
  };
  const handler = tracing ? (job: Job<RunJob>) => traceCallOrWake(job, tracing, () => runJob(job)) : runJob;
  const withPermit = withPermits(admittedCalls, withMetrics(RUNS, handler, { recorder, telemetry }), log);
  const limits = {
    ...{ callLimiter, wakeUps, connector, ownerOf: ownerOf(callOwner), calledBy: calledFunction(callOwner) },
    missing: new MissingVersions(callOwner),
    startedOwnerOf: (job: Job<RunJob>) => addedJobs.startOf(job)?.owner,
  };
  const limited = withCallLimits(limits, withPermit);
  const replicated = withReplication(wakeUps.limit(limited), durability);
  const locked = withLockExtension(withOutageDelay(replicated, log), takeOverOf(config.stalledAfterMs));
  const worker = new WatchedWorker<RunJob>(RUNS, jobRelease.wrap(locked), {
    ...workerOptions(config, queueOptions, queues.prefixOf(partition)),
    ...JOB_RETENTION[RUNS],
    ...(tracing && { telemetry: tracing.jobs }),
    concurrency: config.runConcurrency,
    settings: {
      backoffStrategy: (attempts = 1, _type, error, job) => runRetryDelayMs(attempts, error, job, config.retryScale),
    },
  });
  // Only when its job is delayed, so that readers of the run's state see when it is retried.
  worker.on('failed', (job, error) => {
    if (!job || !(error instanceof AttemptFailed)) return;
    const { env, runId: id, functionId, eventId } = job.data;
    handlers.call.telemetry.publishRun({ env, id, functionId, eventId }, 'Running', error.error);
  });
  worker.waitingJobs = () => wakeUps.waiting;
  const jobEnds = new JobEnds(worker, jobLists);
  const addedJobs = new AddedJobs(worker, callLimiter);
  // Where a replica may take over, each job is handled apart from what has added it.
  if (!durability?.isReplicated) jobTakers.set(partition, addedJobs);
  logJobs(worker, log, ({ id, data: { runId, requestId, functionId }, attemptsMade }) => ({
    queue: RUNS,
    job: id,
    run_id: runId,
    request_id: requestId,
    function_id: functionId,
    attempt: attemptsMade,
  }));
  return worker;
}

function runRetryDelayMs(
  attempts: number,
  error: Error | undefined,
  job: { data?: RunJob } | undefined,
  scale: number,
): number {
  if (job?.data?.kind === 'wake') return WAKE_RETRY_MS * 2 ** attempts;
  const retryAfterMs = error instanceof AttemptFailed ? error.retryAfterMs : undefined;
  return retryAfterMs ?? retryDelayMs(attempts + attemptsBefore(job?.data), Math.random(), scale);
}

function attemptsBefore(data: RunJob | undefined): number {
  return data?.kind === 'call' ? (data.attemptsBefore ?? 0) : 0;
}

/** Resolves soon after the grace period, even without Redis. */
async function closeAll(
  workers: Pick<ResilientWorker, 'close'>[],
  graceMs: number,
  releaseAll: () => void,
): Promise<void> {
  const timers: NodeJS.Timeout[] = [];
  const timeout = new Promise<void>((resolve) => {
    timers.push(setTimeout(releaseAll, graceMs), setTimeout(resolve, graceMs + RELEASE_MS));
  });
  await Promise.race([timeout, Promise.all(workers.map((worker) => worker.close()))]);
  for (const timer of timers) clearTimeout(timer);
}
