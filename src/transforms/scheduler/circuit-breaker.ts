import { LRUCache } from 'lru-cache';
import { atMost } from '../../model/values/cache-size.ts';

/** `good` (closed): runs with others. `suspect` (half-open): runs alone. `quarantined` (open): does not run. */
export interface CircuitState {
  kind: 'good' | 'suspect' | 'quarantined';
  /** 0 unless quarantined. */
  retryAfterSeconds: number;
}

interface CircuitRecord {
  /** Times of the strikes. */
  strikes: number[];
  quarantinedUntil: number;
}

export interface CircuitBreakerRules {
  /** Number of strikes within the window that lead to quarantine. */
  strikes: number;
  /** Also the duration of quarantine, and how long a strike keeps a transform out of the main pool. */
  windowMs: number;
}

/** One circuit per transform that had to be stopped, by `QueuedRequest.key`. Times are milliseconds of any one clock.
 *  Life cycle of a record: `markSuspect` or a strike opens it; a success without recent strikes closes it. After quarantine a
 *  transform stays suspect until it succeeds once. */
export class CircuitBreakers {
  readonly #rules: CircuitBreakerRules;
  /** Bounded against any number of webhooks; an evicted record only means that the transform is trusted again. */
  readonly #records = new LRUCache<string, CircuitRecord>(atMost(10_000));

  constructor(rules: CircuitBreakerRules) {
    this.#rules = rules;
  }

  stateOf(key: string, now: number): CircuitState {
    const record = this.#records.get(key);
    if (record === undefined) return { kind: 'good', retryAfterSeconds: 0 };
    const retryAfterSeconds = Math.max(0, Math.ceil((record.quarantinedUntil - now) / 1_000));
    return { kind: retryAfterSeconds > 0 ? 'quarantined' : 'suspect', retryAfterSeconds };
  }

  markSuspect(key: string) {
    if (!this.#records.has(key)) this.#records.set(key, { strikes: [], quarantinedUntil: 0 });
  }

  strike(key: string, now: number): CircuitState {
    const strikes = [...this.#recentStrikes(key, now), now];
    const full = strikes.length >= this.#rules.strikes;
    this.#records.set(key, {
      strikes: full ? [] : strikes,
      quarantinedUntil: full ? now + this.#rules.windowMs : 0,
    });
    return this.stateOf(key, now);
  }

  hasRecentStrike(key: string, now: number): boolean {
    return this.#recentStrikes(key, now).length > 0;
  }

  /** Records that a transform ran to its end. Returns true when that changes its state. */
  success(key: string, now: number): boolean {
    return !this.hasRecentStrike(key, now) && this.#records.delete(key);
  }

  #recentStrikes(key: string, now: number) {
    const strikes = this.#records.get(key)?.strikes ?? [];
    return strikes.filter((at) => now - at < this.#rules.windowMs);
  }
}
