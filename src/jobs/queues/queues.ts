/** The queues: their names, what a job of each holds, and how long it is kept. */
import { type ConnectionOptions, Queue } from 'bullmq';
import type { Envelope } from '../../model/events/event.ts';
import type { Run } from '../../model/runs/run.ts';
import type { JobTelemetry } from '../../tracing/job-telemetry.ts';

/** BullMQ's own prefix for the keys of these queues is given by the store. */
export interface QueueOptions {
  connection: ConnectionOptions;
  prefix: string;
  /** BullMQ asks Redis for its version when a queue is made, and when the answer fails, as on a connection with a command time-out, the
   *  queue fails for ever. true: it does not ask. */
  skipVersionCheck?: boolean;
}

/** The events of one environment, of the requests that shared one group commit. */
export interface IngestJob {
  events: Envelope[];
  /** A part of a job that stalled its workers (workers/poison-jobs.ts). */
  suspect?: true;
  /** Stalls that no longer count against it: it was set apart for them, and somebody had it tried again. */
  pardonedStalls?: number;
}

/** The run that a job is for, and what a job needs to know of it without asking. */
export interface RunRef {
  env: string;
  runId: string;
  eventId: string;
  requestId: string;
  functionId: string;
}

/** The run of jobs to be, with the span below which they are recorded. In a job that stands where BullMQ looks for it. */
export interface TracedRunRef extends RunRef {
  trace?: string | undefined;
}

export function refOf({ env, id, eventId, requestId, functionId, trace }: Run): TracedRunRef {
  return { env, runId: id, eventId, requestId, functionId, trace };
}

/** One call of the run's function: to go on where it is (`at`: how many steps are done), or to run the one planned step. */
export interface CallJob extends RunRef {
  kind: 'call';
  at?: number;
  stepId?: string;
}

/** The end of a sleep, or the time-out of a wait or an invocation. */
export interface WakeJob extends RunRef {
  kind: 'wake';
  stepId: string;
  /** Name of the event that is waited for. */
  eventName?: string;
}

export type RunJob = CallJob | WakeJob;

export const INGEST = 'ingest';
export const RUNS = 'runs';

export type IngestQueue = Queue<IngestJob, void, string>;
export type RunQueue = Queue<RunJob, void, string>;

/** BullMQ scores a delayed job by when it is due, in milliseconds times this, so that those of one millisecond keep their order. */
export const DELAYED_SCORE_PER_MS = 0x1000;

/** An ingest job holds accepted events: it is tried for most of a day. */
export const INGEST_JOB = { attempts: 1_000, backoff: { type: 'custom' } };
export const RUN_JOB = { backoff: { type: 'custom' } };

/** Which finished jobs are kept, to be looked at; workers see to it. Accepted events that could not be ingested are kept until somebody
 *  looks. A run's own record outlives its jobs and tells more than they: those that did their work go at once, because keeping
 *  the last thousand costs Redis a tenth of its time. */
export const KEPT = {
  [INGEST]: { removeOnComplete: { count: 20 }, removeOnFail: { count: -1 } },
  [RUNS]: { removeOnComplete: { count: 0 }, removeOnFail: { count: 1_000 } },
};

export function ingestQueue(options: QueueOptions): IngestQueue {
  return new Queue(INGEST, { ...options, defaultJobOptions: INGEST_JOB });
}

export function runQueue(options: QueueOptions, telemetry?: JobTelemetry): RunQueue {
  return new Queue(RUNS, { ...options, defaultJobOptions: RUN_JOB, ...(telemetry && { telemetry }) });
}
