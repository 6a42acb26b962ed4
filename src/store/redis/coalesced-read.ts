/** Coalesces concurrent reads of one value, so that a flood of requests, even unauthenticated ones, costs Redis only a few reads. Callers
 *  that come during a read share the next one; reads start at most every 20 ms by default. */
import { setTimeout } from 'node:timers/promises';

/** Minimum time between the starts of two reads. The first read after a pause starts at once. */
const INTERVAL_MS = 20;

export class CoalescedRead<T> {
  readonly #read: () => Promise<T>;
  readonly #intervalMs: number;
  #next: Promise<T> | undefined;
  #running: Promise<T> | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;

  /** @param intervalMs minimum time between the starts of two reads; 0: none */
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
    const pauseMs = this.#startedAt + this.#intervalMs - performance.now();
    // The running read may have read the value before this call.
    await Promise.allSettled([this.#running, pauseMs > 0 ? setTimeout(pauseMs) : undefined]);
    this.#startedAt = performance.now();
    this.#next = undefined;
    this.#running = this.#read();
    return this.#running;
  }
}
