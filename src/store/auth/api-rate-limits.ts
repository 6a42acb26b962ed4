/** Requests per minute of an API key or user, counted in Redis across all web processes. Far from the limit, no request waits for Redis:
 *  the process uses the last known count, and adds its own requests in batches every tenth of a second. */
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { atMost } from '../../model/values/cache-size.ts';
import type { Redis } from '../redis/connection/connection.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';

export const WINDOW_SECONDS = 60;
/** Limit of a user per window: more than any number of open pages sends. */
export const USER_RATE_LIMIT = 6_000;
/** When less than this share of the limit is left, each request waits for the exact count. */
const EXACT_BELOW = 0.2;
/** Interval at which a process adds a key's requests. */
const ADDED_EVERY_MS = 100;
/** Number of keys whose last count a process remembers. */
const KNOWN_MAX = 10_000;

export interface RateLimitState {
  limit: number;
  remaining: number;
  /** Time until the window ends. */
  resetMs: number;
  isExceeded: boolean;
}

interface Known {
  remaining: number;
  /** `performance.now()` time. */
  resetAt: number;
  /** Requests not yet added to Redis. */
  pending: number;
}

export class ApiRateLimits {
  readonly #limit: number;
  readonly #limiter: RateLimiterRedis;
  readonly #known = new LRUCache<string, Known>(atMost(KNOWN_MAX));

  constructor(redis: Redis, keys: Keyspace, limit: number) {
    const points = Math.max(1, limit);
    this.#limit = limit;
    this.#limiter = new RateLimiterRedis({
      points,
      duration: WINDOW_SECONDS,
      storeClient: redis,
      keyPrefix: keys.apiRateLimit(String(WINDOW_SECONDS)),
      // If Redis rejects writes, each process counts by itself.
      insuranceLimiter: new RateLimiterMemory({ points, duration: WINDOW_SECONDS }),
    });
  }

  /** Counts requests.
   *  @param id of the principal
   *  @returns undefined if there is no limit */
  async count(id: string, requests = 1): Promise<RateLimitState | undefined> {
    if (this.#limit === 0) return undefined;
    const known = this.#known.get(id);
    const isFar = known && known.resetAt > performance.now() && known.remaining >= requests + EXACT_BELOW * this.#limit;
    if (!isFar) return this.#consume(id, requests + this.#taken(known));
    known.remaining -= requests;
    if (known.pending === 0) setTimeout(() => this.#add(id, known), ADDED_EVERY_MS).unref();
    known.pending += requests;
    return this.#stateOf(known, false);
  }

  #add(id: string, known: Known): void {
    const requests = this.#taken(known);
    if (requests > 0) this.#consume(id, requests).catch(() => {});
  }

  #taken(known: Known | undefined): number {
    const pending = known?.pending ?? 0;
    if (known) known.pending = 0;
    return pending;
  }

  async #consume(id: string, requests: number): Promise<RateLimitState> {
    try {
      return this.#remember(id, await this.#limiter.consume(id, requests), false);
    } catch (refused) {
      if (refused instanceof RateLimiterRes) return this.#remember(id, refused, true);
      throw refused;
    }
  }

  #remember(id: string, { remainingPoints, msBeforeNext }: RateLimiterRes, isExceeded: boolean): RateLimitState {
    const known = this.#known.get(id) ?? { remaining: 0, resetAt: 0, pending: 0 };
    known.remaining = remainingPoints - known.pending;
    known.resetAt = performance.now() + msBeforeNext;
    this.#known.set(id, known);
    return this.#stateOf(known, isExceeded);
  }

  #stateOf({ remaining, resetAt }: Known, isExceeded: boolean): RateLimitState {
    return { limit: this.#limit, remaining, resetMs: Math.max(0, resetAt - performance.now()), isExceeded };
  }
}
