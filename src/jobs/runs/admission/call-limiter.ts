/** Limits a worker's calls in flight: each call starts as soon as its environment and its app have capacity
 *  (model/capacity/fair-shares.ts). A call that would wait for long is deferred, so that others get their turn. Life
 *  cycle: create with the worker, `acquire` before and `release` after each call, `close`. */
import { appKey, type CallOwner, type FairShares } from '../../../model/capacity/fair-shares.ts';
import { Composed } from '../../../model/values/composed.ts';
import type { AppLimits } from './app-limits.ts';
import { DEFERRED_MAX, DeferredCalls } from './deferred-calls.ts';

/** If an app's last call ended within this time, waiting is better than deferring: capacity becomes free soon, and deferring costs two
 *  commands. */
const RECENTLY_ENDED_MS = 100;
const WAIT_MAX_MS = 250;
const CHECK_MS = 50;
/** How long no call of an app starts after none of its connections had capacity. */
const BLOCKED_MS = 1_000;
/** Maximum number of calls promoted when an app has a new connection; each ended call promotes others. */
const PROMOTED_MAX = 100;

/** undefined: start now. Otherwise the due time of the deferred call, Unix milliseconds. */
export type DeferUntil = number | undefined;

interface WaitingCall {
  owner: CallOwner;
  jobId: string;
  until: number;
  resolve(until: DeferUntil): void;
}

export interface CallLimiterState {
  /** Calls that wait for capacity in this worker's memory. */
  waiting: number;
  deferred: number;
}

export class CallLimiter extends Composed<{
  shares: FairShares;
  limits: AppLimits;
  /** Makes a deferred job due now. */
  promote: (jobId: string) => void;
  waitingMax: number;
}> {
  readonly #deferred = new DeferredCalls();
  /** The time at which the last call of each app ended, oldest first. */
  readonly #lastEndedAt = new Map<string, number>();
  /** The time until which no call of an app starts, because its connections have no capacity, by app; Unix milliseconds. */
  readonly #blocked = new Map<string, number>();
  #waiting: WaitingCall[] = [];
  /** Calls beyond `waitingMax`, which a worker of many partitions may have. Their waiting time begins once they are among `#waiting`. */
  #standby: Omit<WaitingCall, 'until'>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  get state(): CallLimiterState {
    return { waiting: this.#waiting.length + this.#standby.length, deferred: this.#deferred.count };
  }

  /** A call that may start must be followed by `release`. */
  acquire(owner: CallOwner, jobId: string, nowMs: number): DeferUntil | Promise<DeferUntil> {
    if (this.acquireAtOnce(owner, jobId)) return undefined;
    if (this.#closed) return nowMs;
    if (this.#waiting.length >= this.deps.waitingMax) {
      return new Promise((resolve) => this.#standby.push({ owner, jobId, resolve }));
    }
    if (nowMs - (this.#lastEndedAt.get(appKey(owner.env, owner.app)) ?? 0) <= RECENTLY_ENDED_MS) {
      return this.#wait(owner, jobId, nowMs + WAIT_MAX_MS);
    }
    return this.#defer(owner, jobId, nowMs);
  }

  /** Starts a call if it has capacity now, and does nothing otherwise. `release` must follow a started call. @returns whether it may
   *  start */
  acquireAtOnce(owner: CallOwner, jobId: string): boolean {
    if (this.#closed || this.#capacityFor(owner) <= 0) return false;
    this.#start(owner, jobId);
    return true;
  }

  /** Defers a call that was about to start, and the app's other calls, because no connection of its app has capacity. `release` must
   *  follow.
   *  @returns the due time */
  block(owner: CallOwner, jobId: string, nowMs: number): number {
    this.#blocked.set(appKey(owner.env, owner.app), nowMs + BLOCKED_MS);
    return this.#deferred.defer(owner, jobId, nowMs) ?? nowMs + BLOCKED_MS;
  }

  /** Handles a new connection of the app with room for `concurrency` calls. */
  unblock(env: string, app: string, concurrency: number, nowMs: number): void {
    this.#blocked.delete(appKey(env, app));
    const ready = this.#deferred.take({ env, app }, Math.min(concurrency, PROMOTED_MAX), nowMs);
    for (const jobId of ready) this.deps.promote(jobId);
  }

  /** @param wasCalled false if the call was blocked */
  release(owner: CallOwner, nowMs: number, wasCalled = true): void {
    this.deps.shares.end(owner);
    if (wasCalled) {
      this.#recordEnd(owner, nowMs);
      this.#blocked.delete(appKey(owner.env, owner.app));
    }
    const started = this.#startFirstWaiting();
    this.#admitStandby(nowMs);
    if (started || this.#closed || this.#deferred.count === 0) return;
    for (const jobId of this.#deferred.takeReady(owner, (other) => this.#capacityFor(other), nowMs))
      this.deps.promote(jobId);
  }

  /** Returns waiting calls to the queue for other workers. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const { resolve } of [...this.#waiting.splice(0), ...this.#standby.splice(0)]) resolve(Date.now());
  }

  #capacityFor(owner: CallOwner): number {
    if (this.#blocked.size > 0 && this.#isBlocked(owner)) return 0;
    return this.deps.shares.available(owner, this.deps.limits.of(owner.env, owner.app));
  }

  #isBlocked({ env, app }: CallOwner): boolean {
    const key = appKey(env, app);
    const until = this.#blocked.get(key);
    if (until === undefined || until > Date.now()) return until !== undefined;
    this.#blocked.delete(key);
    return false;
  }

  #start(owner: CallOwner, jobId: string): void {
    this.deps.shares.start(owner);
    if (this.#deferred.count > 0) this.#deferred.remove(owner, jobId);
  }

  #wait(owner: CallOwner, jobId: string, until: number): Promise<DeferUntil> {
    this.#timer ??= setInterval(() => this.#deferOverdue(Date.now()), CHECK_MS);
    return new Promise((resolve) => this.#waiting.push({ owner, jobId, until, resolve }));
  }

  #defer(owner: CallOwner, jobId: string, nowMs: number): DeferUntil | Promise<DeferUntil> {
    return this.#deferred.defer(owner, jobId, nowMs) ?? this.#wait(owner, jobId, nowMs + WAIT_MAX_MS);
  }

  /** @returns whether a waiting call had capacity */
  #startFirstWaiting(): boolean {
    for (const [at, { owner, jobId, resolve }] of this.#waiting.entries()) {
      if (this.#capacityFor(owner) < 1) continue;
      this.#waiting.splice(at, 1);
      this.#start(owner, jobId);
      resolve(undefined);
      return true;
    }
    return false;
  }

  /** Moves standby calls on while there is room: they wait, start or are deferred. */
  #admitStandby(nowMs: number): void {
    while (this.#standby.length > 0 && this.#waiting.length < this.deps.waitingMax) {
      const { owner, jobId, resolve } = this.#standby.shift() as Omit<WaitingCall, 'until'>;
      const decision = this.acquire(owner, jobId, nowMs);
      if (decision instanceof Promise) decision.then(resolve);
      else resolve(decision);
    }
  }

  #deferOverdue(nowMs: number): void {
    const overdue = this.#waiting.filter(({ until }) => until <= nowMs);
    if (overdue.length > 0 && this.#deferred.count < DEFERRED_MAX) {
      this.#waiting = this.#waiting.filter(({ until }) => until > nowMs);
      for (const { owner, jobId, resolve } of overdue)
        resolve(this.#deferred.defer(owner, jobId, nowMs) ?? nowMs + WAIT_MAX_MS);
      this.#admitStandby(nowMs);
    }
    if (this.#waiting.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #recordEnd({ env, app }: CallOwner, nowMs: number): void {
    const key = appKey(env, app);
    // Deleted first to keep the map in the order of the last calls.
    this.#lastEndedAt.delete(key);
    this.#lastEndedAt.set(key, nowMs);
    for (const [oldest, at] of this.#lastEndedAt) {
      if (nowMs - at <= RECENTLY_ENDED_MS) break;
      this.#lastEndedAt.delete(oldest);
    }
  }
}
