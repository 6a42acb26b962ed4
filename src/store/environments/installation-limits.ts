/** Limits of the whole installation that can be changed at run time. */
import type { CacheInvalidation } from '../redis/caching/cache-invalidation.ts';
import { ReplicatedCache } from '../redis/caching/replicated-cache.ts';
import type { Redis } from '../redis/connection/connection.ts';
import type { Subscriber } from '../redis/connection/pub-sub.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';

export interface Limits {
  /** Maximum request body on /e/; absent: the setting EVENT_MAX_BYTES. */
  eventMaxBytes?: number | undefined;
}

export class InstallationLimits {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #cacheInvalidation: CacheInvalidation;
  readonly #limits: ReplicatedCache<Limits>;

  constructor(redis: Redis, keys: Keyspace, cacheInvalidation: CacheInvalidation) {
    this.#redis = redis;
    this.#key = keys.installationLimits;
    this.#cacheInvalidation = cacheInvalidation;
    this.#limits = new ReplicatedCache(cacheInvalidation, () => this.readLimits());
  }

  follow(subscriber: Subscriber): Promise<void> {
    return this.#limits.follow(subscriber);
  }

  /** Reads memory. */
  get limits(): Limits {
    return this.#limits.value;
  }

  async readLimits(): Promise<Limits> {
    const text = await this.#redis.get(this.#key);
    return text === null ? {} : (JSON.parse(text) as Limits);
  }

  async saveLimits(limits: Limits): Promise<void> {
    await this.#redis.set(this.#key, JSON.stringify(limits));
    await this.#limits.refresh();
    await this.#cacheInvalidation.announce();
  }
}
