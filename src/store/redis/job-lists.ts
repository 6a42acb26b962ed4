/** Changes the lists of jobs in BullMQ's queues without BullMQ's scripts, which do much that this service never needs. */
import type { CallOwner } from '../../model/capacity/fair-shares.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { QUEUE_KEYS } from '../keys/bullmq.ts';
import { Repository } from './repository.ts';

/** A job that only waits for a worker. */
export interface WaitingJob {
  id: string;
  name: string;
  /** JSON. */
  data: string;
  /** JSON, as BullMQ stores them. */
  options: string;
}

/** The job of a call, which may start as the job is added if its owner has capacity. */
export interface WaitingCall extends WaitingJob {
  owner?: CallOwner | undefined;
}

/** A worker that takes jobs when they are added, if no others wait, so that nothing has to wake it. `State`: the state that a call
 *  finds. */
export interface JobTaker<State> {
  /** Call directly before jobs are added, and `take` afterwards.
   *  @returns undefined if it has no room */
  begin(jobs: readonly WaitingCall[]): Taking | undefined;
  /** @param jobs the jobs taken, which it runs now
   *  @param started the state that each started call finds, by job ID */
  take(taking: Taking, jobs: readonly WaitingJob[], started: ReadonlyMap<string, State>): void;
}

export interface Taking {
  /** Owner of the locks. */
  token: string;
  lockMs: number;
  /** Maximum number of jobs. */
  jobs: number;
  /** Owners of the calls that have capacity and may start, by job ID. */
  starting: ReadonlyMap<string, CallOwner>;
  /** Unix milliseconds. */
  nowMs: number;
}

/** The end of a job whose work is done. */
export interface JobEnding {
  key: string;
  id: string;
  /** Token of its lock. */
  token: string;
  /** Unix milliseconds. */
  nowMs: number;
  /** Duration of locks. */
  lockMs: number;
  takesNext: boolean;
}

/** The end of a call's job, which may come with that of its run, or with the job of the next call. */
export interface JobEnd {
  /** Call directly before the end is sent. */
  begin(): JobEnding;
  record(finished: Finished): void;
}

/** The reply to a worker that takes the next jobs. `delayedUntil`: when the next delayed job is due, Unix
 *  milliseconds; 0: there is none. */
export type Finished =
  /** `isSure`: there is no next job; otherwise BullMQ has to look for one. */
  | { isSure: boolean; delayedUntil: number; next?: undefined; others?: undefined }
  /** `isLast`: no more jobs wait. `others`: further jobs that it has taken. */
  | { next: TakenJob & { isLast: boolean }; others: TakenJob[]; delayedUntil: number };

/** A job that a worker has taken. */
export interface TakenJob {
  id: string;
  /** The fields as they were before. */
  fields: Record<string, string>;
}

/** Maximum number of jobs per script, which blocks Redis for a millisecond. */
const ADDED_AT_ONCE = 100;

export class JobLists extends Repository {
  /** Adds each job that does not exist yet.
   *  @param keyOf a key of the queue */
  async add(keyOf: (suffix: string) => string, jobs: readonly WaitingJob[], nowMs: number): Promise<void> {
    for (let i = 0; i < jobs.length; i += ADDED_AT_ONCE) {
      const some = jobs.slice(i, i + ADDED_AT_ONCE);
      await this.redis.addJobs(keyOf(QUEUE_KEYS.waiting), nowMs, ...some.flatMap(toArguments));
    }
  }

  /** Takes the next jobs.
   *  @param waiting key of the waiting jobs
   *  @param lockMs duration of locks
   *  @param max maximum number of jobs */
  async take(waiting: string, token: string, nowMs: number, lockMs: number, max = 1): Promise<Finished> {
    return toFinished((await this.redis.takeJob(waiting, token, nowMs, lockMs, max)) as FinishReply) as Finished;
  }

  /** Removes a completed job, and takes the next one.
   *  @returns undefined if the worker no longer holds the job, which is then unchanged */
  async finish({ key, id, token, nowMs, lockMs, takesNext }: JobEnding): Promise<Finished | undefined> {
    return toFinished((await this.redis.finishJob(key, id, token, nowMs, lockMs, takesNext ? 1 : '')) as FinishReply);
  }
}

/** The form of the arguments of lib/add-jobs.lua. */
export function toArguments({ id, name, data, options }: WaitingJob): [string, string, string, string] {
  return [id, name, data, options];
}

export type FinishReply = [
  outcome?: number,
  dueAt?: number,
  id?: string,
  fields?: string,
  isLast?: number,
  ...others: string[],
];

/** Converts what lib/finish-job.lua returns. */
export function toFinished([outcome, delayedUntil = 0, id, fields, isLast, ...rest]: FinishReply):
  | Finished
  | undefined {
  if (outcome === undefined) return undefined;
  if (id === undefined || fields === undefined) return { isSure: outcome === 1, delayedUntil };
  const others = chunksOf(rest, 2).map(([id = '', fields = '{}']) => toTaken(id, fields));
  return { next: { ...toTaken(id, fields), isLast: isLast === 1 }, others, delayedUntil };
}

function toTaken(id: string, fields: string): TakenJob {
  return { id, fields: JSON.parse(fields) as Record<string, string> };
}
