/** Data of BullMQ that is read or written without its API: names of keys, fields of jobs, and scores of delayed jobs.
 *  test/store/bullmq.test.ts compares it with the installed version. Scripts get the fields as constants (redis/connection/script-source.ts). */

export const INGEST = 'ingest';
export const RUNS = 'runs';
export const TIMERS = 'timers';

/** Suffixes of a queue's keys. The suffix of a job's key is the job's ID. */
export const QUEUE_KEYS = {
  waiting: 'wait',
  /** The list to which an earlier version of BullMQ moved the waiting jobs of a paused queue until it was resumed. */
  paused: 'paused',
  prioritized: 'prioritized',
  /** Keeps prioritized jobs of one priority in order. */
  priorityCounter: 'pc',
  active: 'active',
  delayed: 'delayed',
  failed: 'failed',
  /** Active jobs whose locks are being checked. */
  stalled: 'stalled',
  /** Counter for the IDs of jobs. */
  lastId: 'id',
  /** Whether the queue is paused, and other settings. */
  settings: 'meta',
  /** Wakes workers that wait for a job. */
  marker: 'marker',
  /** Job schedulers by time of the next tick. */
  schedulers: 'repeat',
} as const;

/** Fields of a job's hash. */
export const JOB_FIELDS = {
  data: 'data',
  options: 'opts',
  /** The time at which the job was added, Unix milliseconds. */
  addedAt: 'timestamp',
  /** The time at which its current execution began, Unix milliseconds. */
  startedAt: 'processedOn',
  /** Failed attempts. */
  attempts: 'atm',
  /** Number of executions, including executions of workers that died. */
  executions: 'ats',
  /** 0: it comes before all jobs with a priority. */
  priority: 'priority',
} as const;

/** BullMQ takes jobs without a priority first, then those with the lowest number. So many wake-ups that are due at the same time delay
 *  calls little (finish-job.lua), and jobs of branches never delay others. */
export const WAKE_UP_PRIORITY = 1;
export const BRANCH_PRIORITY = 2;

/** A key of a queue, outside of BullMQ's `toKey`.
 *  @param queues prefix of the partition's queues
 *  @param suffix of QUEUE_KEYS, or the ID of a job */
export function queueKey(queues: string, queue: string, suffix: string): string {
  return `${queues}:${queue}:${suffix}`;
}

/** The score of a delayed job is its due time in milliseconds times this factor, which keeps jobs of the same millisecond in order. */
export const DELAYED_SCORE_PER_MS = 0x1000;

/** The time at which a delayed job is due, Unix milliseconds. */
export function delayedUntil(score: string | number): number {
  return Math.floor(Number(score) / DELAYED_SCORE_PER_MS);
}
