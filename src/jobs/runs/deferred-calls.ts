/** Calls that found no room: their jobs are put back into the queue, delayed, so that the worker comes to the jobs behind them. They are
 *  looked at again now and then, and at once when room appears: this remembers which they are. Losing it loses nothing: each job returns by itself. */
import { appKey, type CallOwner } from '../../model/capacity/fair-shares.ts';

/** Soonest that a job returns by itself. */
const RETURN_MIN_MS = 1_000;
/** Jobs return one after the other at this distance, so that a long row costs Redis a hundred looks a second, no more… */
const RETURN_EVERY_MS = 10;
/** …unless it is so long that the last would return later than this. */
const RETURN_MAX_MS = 300_000;
/** Most that one worker parks: some 10 MB of IDs. */
export const DEFERRED_MAX = 100_000;
/** Apps that are looked at for one that can use room that has appeared. */
const LOOK_AT_APPS = 20;

interface Row {
  owner: CallOwner;
  /** When it returns by itself, by the job's ID, the first that was parked first. */
  due: Map<string, number>;
  nextDue: number;
}

export class DeferredCalls {
  readonly #rows = new Map<string, Row>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @returns when the job returns by itself; undefined: no more can be parked */
  park(owner: CallOwner, jobId: string, nowMs: number): number | undefined {
    const key = appKey(owner.env, owner.app);
    let row = this.#rows.get(key);
    if (!row && this.#count >= DEFERRED_MAX) return undefined;
    if (!row) {
      row = { owner, due: new Map(), nextDue: 0 };
      this.#rows.set(key, row);
    }
    if (row.due.delete(jobId)) this.#count--;
    if (this.#count >= DEFERRED_MAX) return undefined;
    const soonest = Math.max(nowMs + RETURN_MIN_MS, row.nextDue + RETURN_EVERY_MS * this.#rows.size);
    const latest = nowMs + RETURN_MAX_MS;
    const dueAt = soonest < latest ? soonest : latest - Math.floor(Math.random() * (RETURN_MAX_MS / 5));
    row.nextDue = Math.min(soonest, latest);
    row.due.set(jobId, dueAt);
    this.#count++;
    return dueAt;
  }

  /** The job is at work, here or elsewhere. */
  forget(owner: CallOwner, jobId: string): void {
    const row = this.#rows.get(appKey(owner.env, owner.app));
    if (row) this.#remove(row, jobId);
  }

  /** Jobs that can be called now, of the app whose call has ended first.
   *  @param room how many more calls an app may have in flight */
  take(ended: CallOwner, room: (owner: CallOwner) => number, nowMs: number): string[] {
    const own = this.#rows.get(appKey(ended.env, ended.app));
    // Two for one, if there is room: an app that is well again is soon called as often as it could be.
    if (own) {
      const taken = this.#first(own, Math.min(2, room(own.owner)), nowMs);
      if (taken.length > 0) return taken;
    }
    let left = Math.min(LOOK_AT_APPS, this.#rows.size);
    for (const [key, row] of this.#rows) {
      if (left-- === 0) break;
      // The next time it is another's turn.
      this.#rows.delete(key);
      this.#rows.set(key, row);
      const taken = this.#first(row, Math.min(1, room(row.owner)), nowMs);
      if (taken.length > 0) return taken;
    }
    return [];
  }

  #first(row: Row, most: number, nowMs: number): string[] {
    const taken: string[] = [];
    for (const [jobId, dueAt] of row.due) {
      // Has returned by itself.
      if (dueAt > nowMs && taken.length >= most) break;
      if (dueAt > nowMs) taken.push(jobId);
      this.#remove(row, jobId);
    }
    return taken;
  }

  #remove(row: Row, jobId: string): void {
    if (!row.due.delete(jobId)) return;
    this.#count--;
    if (row.due.size === 0) this.#rows.delete(appKey(row.owner.env, row.owner.app));
  }
}
