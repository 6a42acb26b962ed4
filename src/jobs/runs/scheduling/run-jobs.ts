/** Jobs of runs as data: calls, wake-ups and requests of steps. Job IDs are derived from the job's purpose, so enqueuing is idempotent. */
import type { JobsOptions } from 'bullmq';
import { stepKey } from '../../../model/runs/step-key.ts';
import type { WaitingJob } from '../../../store/redis/job-lists.ts';
import type { AdmittedCallToSchedule } from '../../flow-control/admission.ts';
import { callJobId, jobIdOf } from '../../queues/call-ref.ts';
import {
  type RequestJob,
  RUN_JOB,
  type RunJob,
  type RunRef,
  type StoredCallJob,
  type TracedRunRef,
  type WakeJob,
} from '../../queues/queues.ts';

/** A wake job only writes to Redis, and errors of Redis do not count as attempts. */
const WAKE_ATTEMPTS = 10;
const WAKE_MARGIN_MS = 60_000;

/** How long before it is due a wake-up gets its job. Until then the run's next reconciliation serves as its alarm,
 *  because a job takes more memory than a sleeping run. The reconciler may be late by this much without delaying a
 *  wake-up. */
export function wakeJobLeadMs(reconcileAfterMs: number): number {
  return reconcileAfterMs + WAKE_MARGIN_MS;
}

export interface RequestToSchedule {
  ref: TracedRunRef;
  stepId: string;
  /** Origin of the request's URL. */
  origin: string;
  /** Maximum number of attempts after the first. */
  retries: number;
}

export interface WakeToSchedule {
  ref: TracedRunRef;
  stepId: string;
  untilMs: number;
  nowMs: number;
  /** Dev mode: the time that decides whether the wake-up is due soon; absent: `nowMs` decides. */
  horizonMs?: number | undefined;
  /** Name of the awaited event or signal, for the timeout of a wait. */
  eventName?: string | undefined;
  /** The call that follows a sleep, if its run waits for nothing else: number of finished steps, and retries. */
  next?: { finishedSteps: number; retries: number } | undefined;
}

export interface JobToAdd<Data extends RunJob = RunJob> {
  name: string;
  data: Data;
  opts: JobsOptions & { jobId: string };
}

export function callJob(call: AdmittedCallToSchedule): JobToAdd<StoredCallJob> {
  const { ref, finishedSteps, stepId, retries, attemptsBefore = 0, delayMs = 0, admitted } = call;
  return {
    name: ref.functionId,
    data: {
      ...dataOf(ref),
      kind: 'call',
      ...(finishedSteps !== undefined && { at: finishedSteps }),
      ...(stepId && { stepId }),
      ...(attemptsBefore > 0 && { attemptsBefore }),
      ...(admitted && { admitted }),
    },
    opts: {
      jobId: callJobId(ref.runId, finishedSteps, stepId),
      attempts: retries + 1 - attemptsBefore,
      ...(delayMs > 0 && { delay: delayMs }),
      ...traceOptions(ref.trace),
    },
  };
}

export function wakeJob({ ref, stepId, untilMs, nowMs, eventName }: WakeToSchedule): JobToAdd<WakeJob> {
  return {
    name: ref.functionId,
    data: { ...dataOf(ref), kind: 'wake', stepId, ...(eventName !== undefined && { eventName }) },
    opts: {
      jobId: wakeJobId(ref.runId, stepId),
      delay: Math.max(0, untilMs - nowMs),
      attempts: WAKE_ATTEMPTS,
      ...traceOptions(ref.trace),
    },
  };
}

/** The job of a call that also ends the sleep before it: one job and one script instead of two. Its run waits for nothing but this
 *  sleep. */
export function callAfterSleep(
  wake: WakeToSchedule,
  { finishedSteps, retries }: { finishedSteps?: number; retries: number },
): JobToAdd<StoredCallJob> {
  const { ref, stepId, untilMs, nowMs } = wake;
  const { name, data, opts } = callJob({
    ref,
    ...(finishedSteps !== undefined && { finishedSteps }),
    retries,
    delayMs: untilMs - nowMs,
  });
  return { name, data: { ...data, sleep: stepId }, opts };
}

export function requestJob({ ref, stepId, origin, retries }: RequestToSchedule): JobToAdd<RequestJob> {
  return {
    name: ref.functionId,
    data: { ...dataOf(ref), kind: 'request', stepId, origin },
    opts: {
      jobId: jobIdOf({ runId: ref.runId, stepId, request: true }),
      attempts: retries + 1,
      ...traceOptions(ref.trace),
    },
  };
}

/** The job as it is stored; undefined if it waits for more than a worker. */
export function waitingJob(job: JobToAdd): WaitingJob | undefined {
  return job.opts.delay || job.opts.priority ? undefined : storedJob(job);
}

export function storedJob({ name, data, opts }: JobToAdd): WaitingJob {
  const { jobId: id, attempts, delay, priority, telemetry } = opts;
  const options = { ...RUN_JOB, attempts, delay, priority, tm: telemetry?.metadata, omc: telemetry?.omitContext };
  return { id, name, data: JSON.stringify(data), options: JSON.stringify(options) };
}

export function wakeJobId(runId: string, stepId: string): string {
  return `${runId}-${stepKey(stepId)}-wake`;
}

/** All jobs of a run are children of the span that ingested its event, so that its calls are siblings. Without `omitContext`, BullMQ
 *  would make each attempt a child of the previous one. */
function traceOptions(trace: string | undefined): JobsOptions {
  return trace ? { telemetry: { metadata: trace, omitContext: true } } : {};
}

/** The fields of their run that jobs need. */
function dataOf({ env, runId, eventId, requestId, functionId }: TracedRunRef): RunRef {
  return { env, runId, eventId, requestId, functionId };
}
