/** Runs jobs that this process adds and takes in one script (store/redis/lua/lib/add-jobs.lua). To wake the worker, and to fetch the job,
 *  would be two more round trips before the first call of each run. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { JOB_FIELDS } from '../store/keys/bullmq.ts';
import type { JobTaker, Taking, WaitingJob } from '../store/redis/job-lists.ts';
import { jobOf } from './job-ends.ts';
import type { WatchedWorker } from './watched-worker.ts';

/** Maximum number of runs that start together and stay with this worker; other workers get the rest. */
const TAKEN_MAX = 16;

export class AddedJobs<Data> implements JobTaker {
  readonly #worker: WatchedWorker<Data>;
  /** A job does not belong to what has added it. */
  readonly #apart = AsyncLocalStorage.snapshot();
  #expected = 0;
  #takings = 0;

  constructor(worker: WatchedWorker<Data>) {
    this.#worker = worker;
  }

  begin(jobs: number): Taking | undefined {
    const { id, room, opts } = this.#worker;
    const max = Math.min(jobs, TAKEN_MAX, room - this.#expected);
    if (max <= 0) return undefined;
    this.#expected += max;
    return {
      token: `${id}:added-${++this.#takings}`,
      lockMs: opts.lockDuration as number,
      jobs: max,
      nowMs: Date.now(),
    };
  }

  take({ token, jobs: max, nowMs }: Taking, jobs: readonly WaitingJob[]): void {
    this.#expected -= max;
    for (const { id, name, data, options } of jobs) {
      const fields = { name, data, opts: options, [JOB_FIELDS.addedAt]: String(nowMs) };
      this.#apart(() => this.#worker.runTaken(jobOf(id, fields, nowMs), id, token));
    }
  }
}
