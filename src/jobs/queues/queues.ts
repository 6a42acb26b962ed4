/** The queues: their names, the data of their jobs, and how long finished jobs are kept. */
import { type ConnectionOptions, Queue } from 'bullmq';
import type { Envelope } from '../../model/events/event.ts';
import type { FrozenKeys } from '../../model/flow-control/options.ts';
import type { Run } from '../../model/runs/run.ts';
import type { JobTelemetry } from '../../tracing/job-telemetry.ts';
import { SCHEDULER_SETTINGS } from './job-schedulers.ts';

/** The store defines the prefix of BullMQ's keys. */
export interface QueueOptions {
  connection: ConnectionOptions;
  prefix: string;
  /** BullMQ asks Redis for its version when a queue is created. If the answer fails, as on a connection with a command
   *  timeout, the queue fails forever. true: it does not ask. */
  skipVersionCheck?: boolean;
}

/** Events of one environment, from the requests that shared one group commit. */
export interface IngestJob {
  events: Envelope[];
  /** A part of a poison job; it runs beside no other such part (workers/poison-jobs.ts). */
  isolated?: true;
  /** Stalls that no longer count: the job failed because of them, and an operator retried it. */
  forgivenStalls?: number;
}

/** The run of a job, with all that the job needs to know without reading it. */
export interface RunRef {
  env: string;
  runId: string;
  eventId: string;
  requestId: string;
  functionId: string;
}

/** With what is needed to schedule its calls. In a job, the parent span of the run's jobs is where BullMQ reads it. */
export interface TracedRunRef extends RunRef {
  trace?: string | undefined;
  /** What its limits need of its event. */
  keys?: FrozenKeys | undefined;
  /** Whether it has had a call. */
  started?: boolean;
  /** Its place in line for its start, Unix milliseconds. */
  queuedAt?: number;
}

export function toRunRef({
  env,
  id,
  eventId,
  requestId,
  functionId,
  trace,
  keys,
  startedAt,
  queuedAt,
}: Run): TracedRunRef {
  return { env, runId: id, eventId, requestId, functionId, trace, keys, started: startedAt !== undefined, queuedAt };
}

/** One call of the run's function: with `at` finished steps, or to run the one planned step `stepId`. */
export interface CallJob extends RunRef {
  kind: 'call';
  at?: number;
  stepId?: string;
  /** Attempts of this call that were made by another job: the call that stored the last steps then failed. */
  attemptsBefore?: number;
  /** It was admitted before its first execution (flow-control/admission.ts). */
  admitted?: Admitted;
}

/** Partition of the limits of which a call holds permits, and when they were asked for, Unix milliseconds. */
export type Admitted = [home: number, at: number];

/** The end of a sleep, or the timeout of a wait or an invocation. */
export interface WakeJob extends RunRef {
  kind: 'wake';
  stepId: string;
  /** Name of the awaited event or signal, for a wait. */
  eventName?: string;
}

/** The request that a step asks the service to make. */
export interface RequestJob extends RunRef {
  kind: 'request';
  stepId: string;
  /** Origin of its URL. */
  origin: string;
}

export type RunJob = CallJob | WakeJob | RequestJob;

/** The tick of a cron trigger. */
export interface CronTimer {
  kind: 'cron';
  env: string;
  functionId: string;
  /** As registered, with its time zone. */
  cron: string;
}

/** A throttle lets the next of the runs start that wait for it. */
export interface ThrottleTimer {
  kind: 'throttle';
  /** ID of the limit. */
  limit: string;
  /** Partition of the limit. */
  home: number;
}

/** Debounces of a function in a partition may be over. */
export interface DebounceTimer {
  kind: 'debounce';
  env: string;
  functionId: string;
  partition: number;
}

/** Batches of a function in a partition may be full or due. */
export interface BatchTimer {
  kind: 'batch';
  env: string;
  functionId: string;
  partition: number;
}

/** A run may have reached one of its timeouts. */
export interface TimeoutTimer {
  kind: 'timeout';
  env: string;
  functionId: string;
  runId: string;
}

/** The timeouts of a function have changed, and with them the timers of its active runs. */
export interface ChangedTimeoutsTimer {
  kind: 'changed-timeouts';
  env: string;
  functionId: string;
  /** Whose runs. */
  partition: number;
}

/** What is due at a time. Its handler finds out what there is to do, so a job too many changes nothing. */
export type TimerJob = CronTimer | ThrottleTimer | DebounceTimer | BatchTimer | TimeoutTimer | ChangedTimeoutsTimer;

/** Attempts of a job before the current one, and in all. */
export interface JobAttempts {
  made: number;
  max: number;
  /** How often the job has been executed, this time included: also counts executions that were no attempt, because the process died. */
  executions: number;
}

export const INGEST = 'ingest';
export const RUNS = 'runs';
export const TIMERS = 'timers';

export type IngestQueue = Queue<IngestJob, void, string>;
export type RunQueue = Queue<RunJob, void, string>;
export type TimerQueue = Queue<TimerJob, void, string>;

/** BullMQ's score of a delayed job is its due time in milliseconds times this factor, which keeps jobs of the same
 *  millisecond in order. */
export const DELAYED_SCORE_PER_MS = 0x1000;

/** An ingest job holds accepted events: it is retried for most of a day. */
export const INGEST_JOB = { attempts: 1_000, backoff: { type: 'custom' } };
export const RUN_JOB = { backoff: { type: 'custom' } };
/** A timer is a promise to a run or an event: it is retried as long as the job of an event is. */
export const TIMER_JOB = { attempts: 1_000, backoff: { type: 'custom' } };

/** Which finished jobs workers keep. Failed ingest jobs hold accepted events and are kept until an operator acts.
 *  Completed jobs are removed at once: the records of events and runs outlive them and tell more, and keeping the last
 *  thousand costs Redis a tenth of its time. */
export const JOB_RETENTION = {
  [INGEST]: { removeOnComplete: { count: 0 }, removeOnFail: { count: -1 } },
  [RUNS]: { removeOnComplete: { count: 0 }, removeOnFail: { count: 1_000 } },
  [TIMERS]: { removeOnComplete: { count: 0 }, removeOnFail: { count: 1_000 } },
};

export function createIngestQueue(options: QueueOptions): IngestQueue {
  return new Queue(INGEST, { ...options, defaultJobOptions: INGEST_JOB });
}

export function createRunQueue(options: QueueOptions, telemetry?: JobTelemetry): RunQueue {
  return new Queue(RUNS, { ...options, defaultJobOptions: RUN_JOB, ...(telemetry && { telemetry }) });
}

export function createTimerQueue(options: QueueOptions): TimerQueue {
  return new Queue(TIMERS, { ...options, defaultJobOptions: TIMER_JOB, settings: SCHEDULER_SETTINGS });
}
