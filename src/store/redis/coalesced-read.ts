/** Coalesces concurrent reads of one value, so that a flood of requests, also unauthenticated ones, costs Redis only a few. Callers that arrive
 *  during a read share the next one, and reads start at most every 20 ms, unless told otherwise. */
import { setTimeout } from 'node:timers/promises';

/** Between the starts of two reads. The first read after a pause starts at once. */
const INTERVAL_MS = 20;

export class CoalescedRead<T> {
  readonly #read: () => Promise<T>;
  readonly #intervalMs: number;
  #next: Promise<T> | undefined;
  #running: Promise<T> | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;

  /** @param intervalMs between the starts of two reads; 0: one read follows the other */
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
    // The current read may have read the value before this call.
    await Promise.allSettled([this.#running, pauseMs > 0 ? setTimeout(pauseMs) : undefined]);
    this.#startedAt = performance.now();
    this.#next = undefined;
    this.#running = this.#read();
    return this.#running;
  }
}
