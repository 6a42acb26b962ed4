import { LRUCache } from 'lru-cache';
import { atMost } from '../../model/values/cache-size.ts';

const SLOW_MS = 10;
const WEIGHT_OF_NEWEST = 0.2;
/** Target duration of a batch: longer than it takes to hand over a batch, and too short to leave the other threads without work. */
const BATCH_MS = 1;
export const BATCH_MAX = 32;

/** Estimates how long each transform takes, by `QueuedRequest.key`. Only fast transforms may queue inside the child,
 *  where no request can overtake them. A transform without history counts as slow. */
export class DurationEstimate {
  readonly #meanMs = new LRUCache<string, number>(atMost(10_000));

  record(key: string, durationMs: number) {
    const mean = this.#meanMs.get(key) ?? durationMs;
    this.#meanMs.set(key, mean + (durationMs - mean) * WEIGHT_OF_NEWEST);
  }

  isSlow(key: string): boolean {
    return this.#mean(key) > SLOW_MS;
  }

  /** How many of its requests go into one batch. */
  batchSize(key: string): number {
    return Math.max(1, Math.min(BATCH_MAX, Math.floor(BATCH_MS / this.#mean(key))));
  }

  #mean(key: string): number {
    return this.#meanMs.get(key) ?? Number.POSITIVE_INFINITY;
  }
}
