/** The queues: their names, the data of their jobs, and how long finished jobs are kept. */
import { type ConnectionOptions, Queue } from 'bullmq';
import type { Envelope } from '../../model/events/event.ts';
import type { FrozenKeys } from '../../model/flow-control/options.ts';
import type { Run } from '../../model/runs/run.ts';
import { INGEST, RUNS, TIMERS } from '../../store/keys/bullmq.ts';
import type { JobTelemetry } from '../../tracing/job-telemetry.ts';
import { SCHEDULER_SETTINGS } from './job-schedulers.ts';

/** The prefix of BullMQ's keys is defined by the store. */
export interface QueueOptions {
  connection: ConnectionOptions;
  prefix: string;
  /** BullMQ asks Redis for its version when a queue is created. If that fails, as on a connection with a command timeout, the queue
   *  fails forever. true: it does not ask. */
  skipVersionCheck?: boolean;
}

/** Events of one environment, from requests that shared a group commit. */
export interface IngestJob {
  events: Envelope[];
  /** Set on a part of a poison job: parts never run at the same time (workers/poison-jobs.ts). */
  isolated?: true;
  /** Number of stalls to ignore: they made the job fail, and an operator retried it. */
  forgivenStalls?: number;
}

/** Reference to the run of a job, with everything that the job needs before it reads the run. */
export interface RunRef {
  env: string;
  runId: string;
  eventId: string;
  requestId: string;
  functionId: string;
}

/** A run reference with the data for scheduling its calls. In a job, BullMQ reads the parent span from another place. */
export interface TracedRunRef extends RunRef {
  trace?: string | undefined;
  /** Values from the event that its limits need. */
  keys?: FrozenKeys | undefined;
  /** Whether the run has had a call. */
  started?: boolean;
  /** Position in line for its start, Unix milliseconds. */
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

/** One call of the run's function: with a number of finished steps, or to run the planned step `stepId`. */
export interface CallJob extends RunRef {
  kind: 'call';
  finishedSteps?: number;
  stepId?: string;
  /** The sleep that ends with this call: it was the only thing to wait for, so it needs no wake job. */
  sleep?: string;
  /** Attempts of this call in another job: the call that stored the last steps then failed. */
  attemptsBefore?: number;
  /** Set if it was admitted before its first execution (flow-control/admission.ts). */
  admitted?: Admitted;
}

/** A call as its job in Redis has it: the number of finished steps is `at`. Scripts write it, too (begin-sleep.lua). */
export interface StoredCallJob extends Omit<CallJob, 'finishedSteps'> {
  at?: number;
}

export function readCallJob({ at, ...call }: StoredCallJob): CallJob {
  return at === undefined ? call : { ...call, finishedSteps: at };
}

/** Partition of the limits whose permits a call holds, and when they were requested, Unix milliseconds. */
export type Admitted = [partition: number, at: number];

/** The end of a sleep that does not end with a call, or the timeout of a wait or an invocation. */
export interface WakeJob extends RunRef {
  kind: 'wake';
  stepId: string;
  /** For a wait, name of the awaited event or signal. */
  eventName?: string;
}

/** The request that a step asks the service to make. */
export interface RequestJob extends RunRef {
  kind: 'request';
  stepId: string;
  /** Origin of the URL. */
  origin: string;
}

export type RunJob = StoredCallJob | WakeJob | RequestJob;

/** The tick of a cron trigger. */
export interface CronTimer {
  kind: 'cron';
  env: string;
  functionId: string;
  /** The schedule as registered, including its time zone. */
  cron: string;
}

/** A throttle may admit the next of its waiting runs. */
export interface ThrottleTimer {
  kind: 'throttle';
  /** ID of the limit. */
  limit: string;
  /** Partition of the limit. */
  home: number;
}

/** Event groups of a function in a partition may be due. */
export interface EventGroupTimer {
  kind: 'batch' | 'debounce' | 'lane';
  env: string;
  /** Timers of lanes have the ID of their order here. */
  functionId: string;
  partition: number;
  /** When it is due by Redis's clock, Unix milliseconds; absent: immediately. */
  at?: number;
}

/** A run may have reached one of its timeouts. */
export interface TimeoutTimer {
  kind: 'timeout';
  env: string;
  functionId: string;
  runId: string;
}

/** The timeouts of a function have changed, and therefore the timers of its active runs. */
export interface ChangedTimeoutsTimer {
  kind: 'changed-timeouts';
  env: string;
  functionId: string;
  /** Partition of the runs. */
  partition: number;
}

/** A timer. Its handler checks what is due, so a superfluous job changes nothing. */
export type TimerJob = CronTimer | ThrottleTimer | EventGroupTimer | TimeoutTimer | ChangedTimeoutsTimer;

/** Attempts of a job before the current one, and the maximum. */
export interface JobAttempts {
  made: number;
  max: number;
  /** Number of executions, including this one and executions that died before they counted as attempts. */
  executions: number;
}

export { INGEST, RUNS, TIMERS };

export type IngestQueue = Queue<IngestJob, void, string>;
export type RunQueue = Queue<RunJob, void, string>;
export type TimerQueue = Queue<TimerJob, void, string>;

/** An ingest job holds accepted events, so it is retried for most of a day. */
const INGEST_JOB = { attempts: 1_000, backoff: { type: 'custom' } };
export const RUN_JOB = { backoff: { type: 'custom' } };
/** Runs and events depend on timers, so they are retried as long as ingest jobs. */
const TIMER_JOB = { attempts: 1_000, backoff: { type: 'custom' } };

/** The jobs of each queue, for docs/inventory.md. */
export const QUEUE_JOBS = {
  [INGEST]: 'Store the events of a group commit, and start their runs',
  [RUNS]: 'Call a function, wake a step, make the request of a step',
  [TIMERS]: 'Look at what is due: schedules, throttles, batches, debounces, lanes, timeouts of runs',
};

/** Retention of finished jobs. Failed ingest jobs hold accepted events and are kept until an operator acts. Completed jobs are removed
 *  immediately: the records of events and runs outlive them and tell more, and keeping the last thousand costs Redis a tenth of its
 *  time. */
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
