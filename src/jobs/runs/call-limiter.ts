/** The gate before a worker's calls: it lets each in as soon as its environment and its app have room (model/capacity/fair-shares.ts), and sends back
 *  what would have to wait for long, so that others come by. Life cycle: create with the worker, `enter` and `leave` around each call, `close`. */
import { appKey, type CallOwner, type FairShares } from '../../model/capacity/fair-shares.ts';
import type { AppLimits } from './app-limits.ts';
import { DEFERRED_MAX, DeferredCalls } from './deferred-calls.ts';

/** An app whose last call ended no longer ago is worth waiting for a moment: room comes soon, and parking costs Redis two commands. */
const FLOWS_MS = 100;
const WAIT_MAX_MS = 250;
const LOOK_MS = 50;

/** undefined: it may begin now. Else when to come back, Unix milliseconds. */
export type AdmissionDecision = number | undefined;

interface Waiter {
  owner: CallOwner;
  jobId: string;
  until: number;
  resolve(verdict: AdmissionDecision): void;
}

export interface CallLimiterState {
  /** Calls that wait in this worker's memory for room, and that it has put back. */
  waiting: number;
  parked: number;
}

export class CallLimiter {
  readonly #shares: FairShares;
  readonly #limits: AppLimits;
  readonly #unpark: (jobId: string) => void;
  readonly #parked = new DeferredCalls();
  /** When the last call of an app ended. */
  readonly #leftAt = new Map<string, number>();
  #waiting: Waiter[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param unpark has a job that was put back come at once */
  constructor(shares: FairShares, limits: AppLimits, unpark: (jobId: string) => void) {
    this.#shares = shares;
    this.#limits = limits;
    this.#unpark = unpark;
  }

  get state(): CallLimiterState {
    return { waiting: this.#waiting.length, parked: this.#parked.count };
  }

  /** Whoever is let in must `leave`. */
  enter(owner: CallOwner, jobId: string, nowMs: number): AdmissionDecision | Promise<AdmissionDecision> {
    if (!this.#closed && this.#room(owner) > 0) {
      this.#begin(owner, jobId);
      return undefined;
    }
    if (this.#closed) return nowMs;
    if (nowMs - (this.#leftAt.get(appKey(owner.env, owner.app)) ?? 0) <= FLOWS_MS) {
      return this.#wait(owner, jobId, nowMs + WAIT_MAX_MS);
    }
    return this.#park(owner, jobId, nowMs);
  }

  leave(owner: CallOwner, nowMs: number): void {
    this.#shares.end(owner);
    this.#noteLeft(owner, nowMs);
    const served = this.#serve();
    if (served || this.#closed || this.#parked.count === 0) return;
    for (const jobId of this.#parked.take(owner, (one) => this.#room(one), nowMs)) this.#unpark(jobId);
  }

  /** Nobody waits any longer: what does is left to other workers. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const { resolve } of this.#waiting.splice(0)) resolve(Date.now());
  }

  #room(owner: CallOwner): number {
    return this.#shares.available(owner, this.#limits.of(owner.env, owner.app));
  }

  #begin(owner: CallOwner, jobId: string): void {
    this.#shares.start(owner);
    if (this.#parked.count > 0) this.#parked.forget(owner, jobId);
  }

  #wait(owner: CallOwner, jobId: string, until: number): Promise<AdmissionDecision> {
    this.#timer ??= setInterval(() => this.#look(Date.now()), LOOK_MS);
    return new Promise((resolve) => this.#waiting.push({ owner, jobId, until, resolve }));
  }

  #park(owner: CallOwner, jobId: string, nowMs: number): AdmissionDecision | Promise<AdmissionDecision> {
    return this.#parked.park(owner, jobId, nowMs) ?? this.#wait(owner, jobId, nowMs + WAIT_MAX_MS);
  }

  /** The first that may begin does. */
  #serve(): boolean {
    for (const [at, { owner, jobId, resolve }] of this.#waiting.entries()) {
      if (this.#room(owner) < 1) continue;
      this.#waiting.splice(at, 1);
      this.#begin(owner, jobId);
      resolve(undefined);
      return true;
    }
    return false;
  }

  /** Parks those that have waited long enough. */
  #look(nowMs: number): void {
    const over = this.#waiting.filter(({ until }) => until <= nowMs);
    if (over.length > 0 && this.#parked.count < DEFERRED_MAX) {
      this.#waiting = this.#waiting.filter(({ until }) => until > nowMs);
      for (const { owner, jobId, resolve } of over)
        resolve(this.#parked.park(owner, jobId, nowMs) ?? nowMs + WAIT_MAX_MS);
    }
    if (this.#waiting.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #noteLeft({ env, app }: CallOwner, nowMs: number): void {
    const key = appKey(env, app);
    // The order of the map is that of the last calls: what is old is in front.
    this.#leftAt.delete(key);
    this.#leftAt.set(key, nowMs);
    for (const [old, at] of this.#leftAt) {
      if (nowMs - at <= FLOWS_MS) break;
      this.#leftAt.delete(old);
    }
  }
}
