/** Adaptive concurrency limit of one app (multiplicative decrease, gradual increase), evaluated over windows of finished calls. An app is
 *  unhealthy if it reports overload (429, 503), does not respond, fails (other 5xx), or responds much more slowly than before for the
 *  same function. Time is an argument. */
import { LRUCache } from 'lru-cache';

export const THROTTLE_REASONS = ['overload', 'errors', 'latency'] as const;
export type ThrottleReason = (typeof THROTTLE_REASONS)[number];

/** An app that a worker throttles. */
export interface ThrottledApp {
  env: string;
  app: string;
  /** Calls that this worker may have in flight to the app: now, and when it is healthy. */
  limit: number;
  max: number;
  by: ThrottleReason;
  /** Unix milliseconds. */
  since: number;
}

/** A call that has ended. */
export interface FinishedCall {
  functionId: string;
  /** HTTP status; undefined if there was no response in time. */
  status: number | undefined;
  startedAt: number;
  endedAt: number;
}

/** The window size is the number of calls that may be in flight, within these bounds. */
const WINDOW_MIN = 5;
const WINDOW_MAX = 20;
/** Overload lowers the limit at a tenth of the calls; errors and slowness at half of them. */
const OVERLOADED_SHARE = 0.1;
const UNHEALTHY_SHARE = 0.5;
const DECREASE_FACTOR = 0.5;
const INCREASE_SHARE = 0.2;
/** Only overload may lower the limit to one call: errors may be bugs in the code, and slowness may be the work itself. */
const FLOOR_SHARE = 0.1;
/** A call is slow if it takes this many times the usual duration, and more than SLOW_MS. */
const SLOW_FACTOR = 4;
const SLOW_MS = 500;
/** Number of calls before a function's usual duration counts, and the weight of a new call in it. */
const MIN_SAMPLES = 20;
const NEWEST_WEIGHT = 0.02;
const MAX_FUNCTIONS = 500;

const GATEWAY_OVERLOAD = new Set([429, 502, 503, 504]);

export class AdaptiveLimit {
  readonly #max: number;
  readonly #usualDurations = new LRUCache<string, { ms: number; calls: number }>({ max: MAX_FUNCTIONS });
  #limit: number;
  #throttled: { by: ThrottleReason; since: number } | undefined;
  #loweredAt = 0;
  #window = { calls: 0, overloaded: 0, errors: 0, slow: 0 };

  constructor(max: number) {
    this.#max = max;
    this.#limit = max;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Why and since when the limit is lowered; undefined if it is not lowered. */
  get throttled(): { by: ThrottleReason; since: number } | undefined {
    return this.#throttled;
  }

  record(call: FinishedCall): void {
    const slow = this.#isSlow(call);
    // Calls that started before the limit was lowered do not show whether the new limit works.
    if (call.startedAt < this.#loweredAt) return;
    const { status } = call;
    const window = this.#window;
    window.calls++;
    if (status === undefined || GATEWAY_OVERLOAD.has(status)) window.overloaded++;
    else if (status >= 500) window.errors++;
    else if (slow) window.slow++;
    if (window.calls >= Math.min(WINDOW_MAX, Math.max(WINDOW_MIN, this.#limit))) this.#evaluateWindow(call.endedAt);
  }

  #evaluateWindow(nowMs: number): void {
    const { calls, overloaded, errors, slow } = this.#window;
    this.#window = { calls: 0, overloaded: 0, errors: 0, slow: 0 };
    if (overloaded >= calls * OVERLOADED_SHARE) this.#lower('overload', 1, nowMs);
    else if (errors >= calls * UNHEALTHY_SHARE) this.#lower('errors', Math.ceil(this.#max * FLOOR_SHARE), nowMs);
    else if (slow >= calls * UNHEALTHY_SHARE) this.#lower('latency', Math.ceil(this.#max * FLOOR_SHARE), nowMs);
    else this.#raise();
  }

  #lower(by: ThrottleReason, floor: number, nowMs: number): void {
    const lowered = Math.max(floor, Math.floor(this.#limit * DECREASE_FACTOR));
    this.#limit = Math.min(this.#limit, lowered);
    this.#loweredAt = nowMs;
    this.#throttled = this.#limit < this.#max ? { by, since: this.#throttled?.since ?? nowMs } : undefined;
  }

  #raise(): void {
    this.#limit = Math.min(this.#max, this.#limit + Math.max(1, Math.floor(this.#limit * INCREASE_SHARE)));
    if (this.#limit === this.#max) this.#throttled = undefined;
  }

  /** Also updates the function's usual duration, which adapts to lasting changes. */
  #isSlow({ functionId, status, startedAt, endedAt }: FinishedCall): boolean {
    if (status === undefined || status >= 429) return false;
    const ms = endedAt - startedAt;
    const usual = this.#usualDurations.get(functionId);
    if (!usual) {
      this.#usualDurations.set(functionId, { ms, calls: 1 });
      return false;
    }
    const slow = usual.calls >= MIN_SAMPLES && ms > SLOW_MS && ms > usual.ms * SLOW_FACTOR;
    usual.calls++;
    usual.ms += (ms - usual.ms) * Math.max(NEWEST_WEIGHT, 1 / usual.calls);
    return slow;
  }
}
