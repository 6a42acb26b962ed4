import { LRUCache } from 'lru-cache';

const SLOW_MS = 10;
const WEIGHT_OF_NEWEST = 0.2;

/** How long each transform takes, by `Ticket.key`: only quick ones may wait inside the child, where nobody can
 *  overtake. One that has not run yet counts as slow. */
export class Pace {
  readonly #meanMs = new LRUCache<string, number>({ max: 10_000 });

  note(key: string, durationMs: number) {
    const mean = this.#meanMs.get(key) ?? durationMs;
    this.#meanMs.set(key, mean + (durationMs - mean) * WEIGHT_OF_NEWEST);
  }

  slow(key: string): boolean {
    return (this.#meanMs.get(key) ?? Number.POSITIVE_INFINITY) > SLOW_MS;
  }
}
