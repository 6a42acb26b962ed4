/** Changes the lists of jobs in BullMQ's queues without BullMQ, whose scripts do much that this service never needs. */
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

/** The end of a job whose work is done. */
export interface JobEnding {
  /** Key of the job. */
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

export type Finished =
  /** `isSure`: there is no next job; otherwise BullMQ has to look for one.
   *  `delayedUntil`: when the next delayed job is due, Unix milliseconds. */
  | { isSure: boolean; delayedUntil: number; next?: undefined }
  | { next: { id: string; fields: Record<string, string> } };

/** Maximum number of jobs per script, which blocks Redis for a millisecond. */
const ADDED_AT_ONCE = 100;

export class JobLists extends Repository {
  /** Adds each job that does not exist yet.
   *  @param keyOf a key of the queue */
  async add(keyOf: (suffix: string) => string, jobs: readonly WaitingJob[], nowMs: number): Promise<void> {
    const { waiting, settings, lastId, marker } = QUEUE_KEYS;
    const keys = [waiting, settings, lastId, marker].map(keyOf) as [string, string, string, string];
    for (let i = 0; i < jobs.length; i += ADDED_AT_ONCE) {
      const some = jobs.slice(i, i + ADDED_AT_ONCE);
      const fields = some.flatMap(({ id, name, data, options }) => [id, name, data, options]);
      await this.redis.addJobs(...keys, keyOf(''), nowMs, ...fields);
    }
  }

  /** Removes a completed job, and takes the next one.
   *  @returns undefined if the worker no longer holds the job, which is then unchanged */
  async finish({ key, id, token, nowMs, lockMs, takesNext }: JobEnding): Promise<Finished | undefined> {
    return toFinished((await this.redis.finishJob(key, id, token, nowMs, lockMs, takesNext ? 1 : '')) as FinishReply);
  }
}

export type FinishReply = [outcome?: number, found?: string | number, fields?: string];

/** Converts what lib/finish-job.lua returns. */
export function toFinished([outcome, found, fields]: FinishReply): Finished | undefined {
  if (outcome === undefined) return undefined;
  if (fields) return { next: { id: String(found), fields: JSON.parse(fields) as Record<string, string> } };
  return { isSure: outcome === 1, delayedUntil: Number(found ?? 0) };
}
