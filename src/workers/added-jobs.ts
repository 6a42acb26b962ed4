/** Runs jobs that this process adds and takes in one script (store/redis/lua/lib/add-jobs.lua). Waking the worker, fetching the job and
 *  starting the call would take three more round trips before the first call of each run. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Job } from 'bullmq';
import type { CallLimiter } from '../jobs/runs/admission/call-limiter.ts';
import type { CallOwner } from '../model/capacity/fair-shares.ts';
import { Composed } from '../model/values/composed.ts';
import { JOB_FIELDS } from '../store/keys/bullmq.ts';
import type { JobTaker, Taking, WaitingCall, WaitingJob } from '../store/redis/job-lists.ts';
import type { Loaded } from '../store/runs/loaded-run.ts';
import { jobOf } from './job-ends.ts';
import type { WatchedWorker } from './watched-worker.ts';

/** Maximum number of runs that start together and stay with this worker; other workers get the rest. */
const TAKEN_MAX = 32;

/** A call that has started. `release` of the call limiter must follow. */
export interface StartedCall {
  owner: CallOwner;
  loaded: Loaded;
}

export class AddedJobs<Data>
  extends Composed<{
    worker: WatchedWorker<Data>;
    callLimiter: Pick<CallLimiter, 'acquireAtOnce' | 'release'>;
  }>
  implements JobTaker<Loaded>
{
  readonly #started = new WeakMap<object, StartedCall>();
  /** Runs jobs outside of the asynchronous context that has added them. */
  readonly #apart = AsyncLocalStorage.snapshot();
  #takings = 0;

  begin(jobs: readonly WaitingCall[]): Taking | undefined {
    const { worker, callLimiter } = this.deps;
    const max = worker.expectAdded(Math.min(jobs.length, TAKEN_MAX));
    if (max === 0) return undefined;
    const starting = new Map<string, CallOwner>();
    for (const { id, owner } of jobs.slice(0, max)) {
      if (owner && !starting.has(id) && callLimiter.acquireAtOnce(owner, id)) starting.set(id, owner);
    }
    return {
      token: `${worker.id}:added-${++this.#takings}`,
      lockMs: worker.opts.lockDuration as number,
      jobs: max,
      nowMs: Date.now(),
      starting,
    };
  }

  take(
    { token, jobs: max, nowMs, starting }: Taking,
    jobs: readonly WaitingJob[],
    started: ReadonlyMap<string, Loaded>,
  ): void {
    const unused = new Map(starting);
    const taken: Job<Data, void>[] = [];
    for (const { id, name, data, options } of jobs) {
      const fields = { name, data, opts: options, [JOB_FIELDS.addedAt]: String(nowMs) };
      const [owner, loaded] = [starting.get(id), started.get(id)];
      const job = this.deps.worker.takenJob(jobOf(id, fields, nowMs), id, token);
      if (job && owner && loaded) {
        this.#started.set(job, { owner, loaded });
        unused.delete(id);
      }
      if (job) taken.push(job);
    }
    this.#apart(() => this.deps.worker.runTaken(taken, max));
    for (const owner of unused.values()) this.deps.callLimiter.release(owner, nowMs, false);
  }

  /** The state that the job's call has loaded, if it started as the job was added. */
  startOf(job: Job<Data>): StartedCall | undefined {
    return this.#started.get(job);
  }
}
