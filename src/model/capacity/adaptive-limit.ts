/** How many calls of one app may be in flight: all that there is room for while it is well, fewer while it is sick, and step by step more
 *  again. Multiplicative decrease and gradual increase, judged by windows of finished calls. Sick is what refuses for overload (429, 503), does not answer,
 *  fails (other 5xx), or answers much more slowly than the same function did. Time is an argument. */
import { LRUCache } from 'lru-cache';

export const SLOWED_BY = ['overload', 'errors', 'latency'] as const;
export type SlowedBy = (typeof SLOWED_BY)[number];

/** An app that a worker slows. */
export interface SlowedApp {
  env: string;
  app: string;
  /** Calls that it may have in flight in this worker, and could if it were well. */
  limit: number;
  max: number;
  by: SlowedBy;
  /** Unix milliseconds. */
  since: number;
}

/** A call that has ended. */
export interface FinishedCall {
  functionId: string;
  /** HTTP status; undefined: no answer came, or none in time. */
  status: number | undefined;
  startedAt: number;
  endedAt: number;
}

/** Calls that are judged together: as many as may be in flight, within these. */
const WINDOW_MIN = 5;
const WINDOW_MAX = 20;
/** An app that says it has too much is believed soon; its own errors, and slowness, count when they are every second call. */
const OVERLOADED_SHARE = 0.1;
const SICK_SHARE = 0.5;
const BACK_OFF = 0.5;
const GROW = 0.2;
/** Only overload and silence bring the limit down to one call: errors may be the code's, and slowness the work's. */
const GENTLE_FLOOR = 0.1;
/** So many times as long as usual is slow, unless it is short anyway. */
const SLOW_FACTOR = 4;
const SLOW_MS = 500;
/** Calls of a function before its usual time is known, and how soon that follows what holds now. */
const LEARNED_FROM = 20;
const FOLLOW = 0.02;
const FUNCTIONS_KNOWN = 500;

const GATEWAY_OVERLOAD = new Set([429, 502, 503, 504]);

export class AdaptiveLimit {
  readonly #max: number;
  readonly #usual = new LRUCache<string, { ms: number; calls: number }>({ max: FUNCTIONS_KNOWN });
  #limit: number;
  #slowed: { by: SlowedBy; since: number } | undefined;
  #loweredAt = 0;
  #window = { calls: 0, overloaded: 0, errors: 0, slow: 0 };

  constructor(max: number) {
    this.#max = max;
    this.#limit = max;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Why it is lower than it could be, and since when; undefined: it is not. */
  get slowed(): { by: SlowedBy; since: number } | undefined {
    return this.#slowed;
  }

  note(call: FinishedCall): void {
    const slow = this.#isSlow(call);
    // What began before the limit was lowered says nothing of the lower one.
    if (call.startedAt < this.#loweredAt) return;
    const { status } = call;
    const window = this.#window;
    window.calls++;
    if (status === undefined || GATEWAY_OVERLOAD.has(status)) window.overloaded++;
    else if (status >= 500) window.errors++;
    else if (slow) window.slow++;
    if (window.calls >= Math.min(WINDOW_MAX, Math.max(WINDOW_MIN, this.#limit))) this.#judge(call.endedAt);
  }

  #judge(nowMs: number): void {
    const { calls, overloaded, errors, slow } = this.#window;
    this.#window = { calls: 0, overloaded: 0, errors: 0, slow: 0 };
    if (overloaded >= calls * OVERLOADED_SHARE) this.#lower('overload', 1, nowMs);
    else if (errors >= calls * SICK_SHARE) this.#lower('errors', Math.ceil(this.#max * GENTLE_FLOOR), nowMs);
    else if (slow >= calls * SICK_SHARE) this.#lower('latency', Math.ceil(this.#max * GENTLE_FLOOR), nowMs);
    else this.#raise();
  }

  #lower(by: SlowedBy, floor: number, nowMs: number): void {
    const lowered = Math.max(floor, Math.floor(this.#limit * BACK_OFF));
    this.#limit = Math.min(this.#limit, lowered);
    this.#loweredAt = nowMs;
    this.#slowed = this.#limit < this.#max ? { by, since: this.#slowed?.since ?? nowMs } : undefined;
  }

  #raise(): void {
    this.#limit = Math.min(this.#max, this.#limit + Math.max(1, Math.floor(this.#limit * GROW)));
    if (this.#limit === this.#max) this.#slowed = undefined;
  }

  /** Learns how long the function usually takes, which what takes long from now on becomes in time. */
  #isSlow({ functionId, status, startedAt, endedAt }: FinishedCall): boolean {
    if (status === undefined || status >= 429) return false;
    const ms = endedAt - startedAt;
    const usual = this.#usual.get(functionId);
    if (!usual) {
      this.#usual.set(functionId, { ms, calls: 1 });
      return false;
    }
    const slow = usual.calls >= LEARNED_FROM && ms > SLOW_MS && ms > usual.ms * SLOW_FACTOR;
    usual.calls++;
    usual.ms += (ms - usual.ms) * Math.max(FOLLOW, 1 / usual.calls);
    return slow;
  }
}
