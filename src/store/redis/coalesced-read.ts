/** A question to Redis that many ask at once, strangers among them. Those who ask while an answer is under way share the next one, which
 *  begins after they asked, and only so many begin in a second: a flood of askers costs Redis no more than a few. */
import { setTimeout } from 'node:timers/promises';

/** Between the beginnings of two. Whoever asks after a quiet time waits for nothing. */
const PACE_MS = 20;

export class CoalescedRead<T> {
  readonly #read: () => Promise<T>;
  #next: Promise<T> | undefined;
  #running: Promise<T> | undefined;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** As it stands no earlier than now. */
  get(): Promise<T> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<T> {
    const pauseMs = this.#begunAt + PACE_MS - performance.now();
    // What is under way may have been read before somebody asked.
    await Promise.allSettled([this.#running, pauseMs > 0 ? setTimeout(pauseMs) : undefined]);
    this.#begunAt = performance.now();
    this.#next = undefined;
    this.#running = this.#read();
    return this.#running;
  }
}
