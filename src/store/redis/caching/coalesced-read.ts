/** Coalesces concurrent reads of one value, so that a flood of requests, even unauthenticated ones, costs Redis only a few reads. Callers that
 *  arrive during a read share the next read. A few reads start at once; in a flood, a read starts every 20 ms by default. */
import { setTimeout } from 'node:timers/promises';

/** Time between the starts of two reads, on average. */
const INTERVAL_MS = 20;
/** Number of reads that may start at once after a pause, so that a single sender does not wait. */
const BURST = 20;

export class CoalescedRead<T> {
  readonly #read: () => Promise<T>;
  readonly #intervalMs: number;
  #next: Promise<T> | undefined;
  #running: Promise<T> | undefined;
  /** Time at which the next read would start if all reads had kept the interval. */
  #dueAt = Number.NEGATIVE_INFINITY;

  /** @param intervalMs time between the starts of two reads, on average; 0: none */
  constructor(read: () => Promise<T>, intervalMs = INTERVAL_MS) {
    this.#read = read;
    this.#intervalMs = intervalMs;
  }

  /** The value as of now or later. */
  get(): Promise<T> {
    this.#next ??= this.#start();
    return this.#next;
  }

  async #start(): Promise<T> {
    const pauseMs = this.#dueAt - (BURST - 1) * this.#intervalMs - performance.now();
    // The running read may have read the value before this call.
    await Promise.allSettled([this.#running, pauseMs > 0 ? setTimeout(pauseMs) : undefined]);
    this.#dueAt = Math.max(this.#dueAt, performance.now()) + this.#intervalMs;
    this.#next = undefined;
    this.#running = this.#read();
    return this.#running;
  }
}
