import { LRUCache } from 'lru-cache';

/** `good` runs beside everybody, `suspect` runs alone, `quarantined` does not run. */
export interface CircuitState {
  kind: 'good' | 'suspect' | 'quarantined';
  /** 0 unless quarantined. */
  retryAfterSeconds: number;
}

interface Suspicion {
  strikes: number[];
  quarantinedUntil: number;
}

export interface CircuitBreakerRules {
  /** So many strikes within the window bring quarantine. */
  strikes: number;
  /** Also how long quarantine lasts, and how long a strike keeps a transform out of the main lane. */
  windowMs: number;
}

/** Which transforms had to be stopped, by `Ticket.key`. Times are milliseconds of any one clock.
 *  Life of a record: suspicion or a strike opens it; a success, no strike being fresh, closes it. After quarantine a
 *  transform is still suspect, until it succeeds once. */
export class CircuitBreakers {
  readonly #rules: CircuitBreakerRules;
  /** The bound is against webhooks without number; what falls out is merely trusted again. */
  readonly #suspicions = new LRUCache<string, Suspicion>({ max: 10_000 });

  constructor(rules: CircuitBreakerRules) {
    this.#rules = rules;
  }

  of(key: string, now: number): CircuitState {
    const suspicion = this.#suspicions.get(key);
    if (suspicion === undefined) return { kind: 'good', retryAfterSeconds: 0 };
    const retryAfterSeconds = Math.max(0, Math.ceil((suspicion.quarantinedUntil - now) / 1_000));
    return { kind: retryAfterSeconds > 0 ? 'quarantined' : 'suspect', retryAfterSeconds };
  }

  suspect(key: string) {
    if (!this.#suspicions.has(key)) this.#suspicions.set(key, { strikes: [], quarantinedUntil: 0 });
  }

  strike(key: string, now: number): CircuitState {
    const strikes = [...this.#fresh(key, now), now];
    const full = strikes.length >= this.#rules.strikes;
    this.#suspicions.set(key, {
      strikes: full ? [] : strikes,
      quarantinedUntil: full ? now + this.#rules.windowMs : 0,
    });
    return this.of(key, now);
  }

  struck(key: string, now: number): boolean {
    return this.#fresh(key, now).length > 0;
  }

  /** A transform has run to its end. True when that has changed its standing. */
  ranWell(key: string, now: number): boolean {
    return !this.struck(key, now) && this.#suspicions.delete(key);
  }

  #fresh(key: string, now: number) {
    const strikes = this.#suspicions.get(key)?.strikes ?? [];
    return strikes.filter((at) => now - at < this.#rules.windowMs);
  }
}
