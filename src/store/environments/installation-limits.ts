/** Limits of the whole installation that can be changed at run time. */
import { type CacheInvalidation, ReplicatedCache } from '../redis/caching/cache-invalidation.ts';
import type { Redis } from '../redis/connection/connection.ts';
import type { Subscriber } from '../redis/connection/pub-sub.ts';
import { Repository } from '../redis/repository.ts';

export interface Limits {
  /** Maximum request body on /e/; absent: the setting EVENT_MAX_BYTES. */
  eventMaxBytes?: number | undefined;
}

export class InstallationLimits extends Repository<Redis, { cacheInvalidation: CacheInvalidation }> {
  readonly #limits = new ReplicatedCache(this.deps.cacheInvalidation, () => this.readLimits());

  follow(subscriber: Subscriber): Promise<void> {
    return this.#limits.follow(subscriber);
  }

  /** Reads memory. */
  get limits(): Limits {
    return this.#limits.value;
  }

  async readLimits(): Promise<Limits> {
    const text = await this.redis.get(this.keys.installationLimits);
    return text === null ? {} : (JSON.parse(text) as Limits);
  }

  async saveLimits(limits: Limits): Promise<void> {
    await this.redis.set(this.keys.installationLimits, JSON.stringify(limits));
    await this.#limits.changed();
  }
}
