/** Calls without capacity: their jobs return to the queue with a delay, so that the worker reaches the jobs behind them. This class
 *  remembers them, to promote them as soon as there is capacity. A worker that dies forgets them, which is harmless: each job becomes due
 *  by itself. */
import { appKey, type CallOwner } from '../../../model/capacity/fair-shares.ts';

/** Minimum delay of a deferred job. */
const DELAY_MIN_MS = 1_000;
/** Interval between the due times of an app's jobs, so that many of them cost Redis at most a hundred checks a second. */
const DISTANCE_MS = 10;
/** Maximum delay of a deferred job. Jobs that would be due later are spread at random over the last fifth of it. */
export const DELAY_MAX_MS = 300_000;
/** Maximum number of jobs remembered per worker: about 10 MB of IDs. */
export const DEFERRED_MAX = 100_000;
/** Maximum number of apps that are checked when capacity is free. */
const APPS_CHECKED = 20;

interface AppQueue {
  owner: CallOwner;
  /** Due time by job ID, in the order of deferral. */
  due: Map<string, number>;
  nextDue: number;
}

export class DeferredCalls {
  readonly #queues = new Map<string, AppQueue>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @returns the due time; undefined if no more can be deferred */
  defer(owner: CallOwner, jobId: string, nowMs: number): number | undefined {
    const key = appKey(owner.env, owner.app);
    let queue = this.#queues.get(key);
    if (!queue && this.#count >= DEFERRED_MAX) return undefined;
    if (!queue) {
      queue = { owner, due: new Map(), nextDue: 0 };
      this.#queues.set(key, queue);
    }
    if (queue.due.delete(jobId)) this.#count--;
    if (this.#count >= DEFERRED_MAX) return undefined;
    const soonest = Math.max(nowMs + DELAY_MIN_MS, queue.nextDue + DISTANCE_MS * this.#queues.size);
    const latest = nowMs + DELAY_MAX_MS;
    const dueAt = soonest < latest ? soonest : latest - Math.floor(Math.random() * (DELAY_MAX_MS / 5));
    queue.nextDue = Math.min(soonest, latest);
    queue.due.set(jobId, dueAt);
    this.#count++;
    return dueAt;
  }

  /** Forgets a job that has become active, here or in another worker. */
  remove(owner: CallOwner, jobId: string): void {
    const queue = this.#queues.get(appKey(owner.env, owner.app));
    if (queue) this.#remove(queue, jobId);
  }

  /** Removes and returns the jobs whose calls can be made now: jobs of the app whose call ended, otherwise jobs of another app.
   *  @param capacityFor number of additional calls that an app may have in flight
   *  @returns their IDs */
  takeReady(ended: CallOwner, capacityFor: (owner: CallOwner) => number, nowMs: number): string[] {
    const own = this.#queues.get(appKey(ended.env, ended.app));
    // Each ended call makes room for two, if there is capacity, so that a recovered app soon gets all the calls that it can take.
    if (own) {
      const taken = this.#takeFirst(own, Math.min(2, capacityFor(own.owner)), nowMs);
      if (taken.length > 0) return taken;
    }
    let left = Math.min(APPS_CHECKED, this.#queues.size);
    for (const [key, queue] of this.#queues) {
      if (left-- === 0) break;
      // The app moves to the end of the map, so that next time it is another app's turn.
      this.#queues.delete(key);
      this.#queues.set(key, queue);
      const taken = this.#takeFirst(queue, Math.min(1, capacityFor(queue.owner)), nowMs);
      if (taken.length > 0) return taken;
    }
    return [];
  }

  /** Removes the first jobs of the app. @returns their IDs */
  take({ env, app }: Pick<CallOwner, 'env' | 'app'>, max: number, nowMs: number): string[] {
    const queue = this.#queues.get(appKey(env, app));
    return queue ? this.#takeFirst(queue, max, nowMs) : [];
  }

  #takeFirst(queue: AppQueue, max: number, nowMs: number): string[] {
    const taken: string[] = [];
    for (const [jobId, dueAt] of queue.due) {
      // A due job needs no promotion.
      if (dueAt > nowMs && taken.length >= max) break;
      if (dueAt > nowMs) taken.push(jobId);
      this.#remove(queue, jobId);
    }
    return taken;
  }

  #remove(queue: AppQueue, jobId: string): void {
    if (!queue.due.delete(jobId)) return;
    this.#count--;
    if (queue.due.size === 0) this.#queues.delete(appKey(queue.owner.env, queue.owner.app));
  }
}
