import { LRUCache } from 'lru-cache';

const SLOW_MS = 10;
const WEIGHT_OF_NEWEST = 0.2;
/** Longer than it takes to hand a batch over, and too short for the other threads to be missed. */
const BATCH_MS = 1;
const BATCH_MAX = 16;

/** How long each transform takes, by `Ticket.key`: only quick ones may wait inside the child, where nobody can
 *  overtake. One that has not run yet counts as slow. */
export class DurationEstimate {
  readonly #meanMs = new LRUCache<string, number>({ max: 10_000 });

  note(key: string, durationMs: number) {
    const mean = this.#meanMs.get(key) ?? durationMs;
    this.#meanMs.set(key, mean + (durationMs - mean) * WEIGHT_OF_NEWEST);
  }

  slow(key: string): boolean {
    return this.#mean(key) > SLOW_MS;
  }

  /** How many requests of it go together. */
  batch(key: string): number {
    return Math.max(1, Math.min(BATCH_MAX, Math.floor(BATCH_MS / this.#mean(key))));
  }

  #mean(key: string): number {
    return this.#meanMs.get(key) ?? Number.POSITIVE_INFINITY;
  }
}
