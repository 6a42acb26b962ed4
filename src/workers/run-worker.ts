/** The worker that calls functions, makes requests of steps and wakes runs. */
import type { Job } from 'bullmq';
import type { Config } from '../config.ts';
import type { FunctionClient } from '../functions/function-client.ts';
import type { PartitionQueues, SharedQueueOptions } from '../jobs/queues/partition-queues.ts';
import { JOB_RETENTION, RUNS, type RunJob, readCallJob } from '../jobs/queues/queues.ts';
import type { AdmittedCalls } from '../jobs/runs/admission/admitted-calls.ts';
import type { CallLimiter } from '../jobs/runs/admission/call-limiter.ts';
import { type CallDeps, call } from '../jobs/runs/calls/call-job.ts';
import { AttemptFailed } from '../jobs/runs/calls/service-errors.ts';
import { makeRequest, type RequestDeps } from '../jobs/runs/steps/request-job.ts';
import { type WakeDeps, wake } from '../jobs/runs/steps/wake-job.ts';
import type { Logger } from '../log.ts';
import { retryDelayMs } from '../model/runs/retry.ts';
import type { Durability } from '../store/redis/durability/durable-write.ts';
import type { JobLists, JobTaker } from '../store/redis/job-lists.ts';
import type { Loaded } from '../store/runs/loaded-run.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { AddedJobs } from './added-jobs.ts';
import { type Connector, withCapacity } from './call-capacity.ts';
import { calledFunction, type OwnerDeps, ownerOf } from './call-owner.ts';
import { withPermits } from './call-permits.ts';
import { JobEnds } from './job-ends.ts';
import {
  type JobMetrics,
  type JobRelease,
  withLockExtension,
  withMetrics,
  withOutageDelay,
  withReplication,
} from './job-middleware.ts';
import { MissingVersions, type MissingVersionsDeps } from './missing-versions.ts';
import type { SharedConcurrency } from './shared-concurrency.ts';
import { takeOverOf } from './take-over.ts';
import { traceCallOrWake } from './traced-jobs.ts';
import { isWakeUp, type WakeUps } from './wake-ups.ts';
import { WatchedWorker } from './watched-worker.ts';
import { logJobs, workerOptions } from './worker-options.ts';

const WAKE_RETRY_MS = 1_000;

export interface RunWorkerDeps extends JobMetrics {
  config: Config;
  queueOptions: SharedQueueOptions;
  queues: PartitionQueues;
  jobLists: Pick<JobLists, 'take' | 'finish'>;
  /** Receives the worker, which takes jobs as they are added, under its partition. */
  jobTakers: Map<number, JobTaker<Loaded>>;
  handlers: RunHandlers;
  callLimiter: CallLimiter;
  admittedCalls: AdmittedCalls;
  callOwner: OwnerDeps & MissingVersionsDeps;
  connector: Connector;
  durability: Durability | undefined;
  log: Logger;
  tracing: Tracing | undefined;
}

/** Dependencies of each kind of job. */
export interface RunHandlers {
  call: CallDeps & { functionClient: FunctionClient };
  wake: WakeDeps;
  request: RequestDeps;
}

/** What the workers of all partitions of a process share. */
export interface SharedByRunWorkers {
  wakeUps: WakeUps;
  jobRelease: JobRelease;
  concurrency: SharedConcurrency;
}

export function createRunWorker(
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
  }: RunWorkerDeps,
  { wakeUps, jobRelease, concurrency }: SharedByRunWorkers,
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
  const capacity = {
    ...{ callLimiter, wakeUps, connector, ownerOf: ownerOf(callOwner), calledBy: calledFunction(callOwner) },
    missing: new MissingVersions(callOwner),
    startedOwnerOf: (job: Job<RunJob>) => addedJobs.startOf(job)?.owner,
  };
  const withinCapacity = withCapacity(capacity, withPermit);
  const replicated = withReplication(wakeUps.limit(withinCapacity), durability);
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
  // A failed attempt is published only once its job is delayed, so that readers of the run's state see when the attempt is retried.
  worker.on('failed', (job, error) => {
    if (!job || !(error instanceof AttemptFailed)) return;
    const { env, runId: id, functionId, eventId } = job.data;
    handlers.call.telemetry.publishRun({ env, id, functionId, eventId }, 'Running', error.error);
  });
  worker.waitingJobs = () => wakeUps.queued;
  worker.shareConcurrency(concurrency);
  const jobEnds = new JobEnds(worker, jobLists);
  const addedJobs = new AddedJobs({ worker, callLimiter });
  // If a replica may take over, workers take no jobs as they are added: each job is handled by itself.
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
