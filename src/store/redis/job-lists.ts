/** The waiting jobs of BullMQ's queues. Its own script adds one job; this one adds many, and takes a quarter of the time for each. */
import { QUEUE_KEYS } from '../keys/bullmq.ts';
import { Repository } from './repository.ts';

/** A job that waits for nothing but a worker. */
export interface WaitingJob {
  id: string;
  name: string;
  /** JSON. */
  data: string;
  /** JSON, as BullMQ stores them. */
  options: string;
}

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
}
