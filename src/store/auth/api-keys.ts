/** API keys by the digest of their secret, cached in memory. The secret itself is not stored. */
import type { ApiKey } from '../../model/auth/api-key.ts';
import { type CacheInvalidation, ReplicatedCache } from '../redis/caching/cache-invalidation.ts';
import { type Redis, replies } from '../redis/connection/connection.ts';
import type { Subscriber } from '../redis/connection/pub-sub.ts';
import { Repository } from '../redis/repository.ts';

/** Interval at which a process records the use of a key. */
const RECORD_USE_EVERY_MS = 10_000;

export interface UsedApiKey extends ApiKey {
  /** Unix milliseconds, accurate to ten seconds. */
  lastUsedAt: number | undefined;
}

export class ApiKeys extends Repository<Redis, { cacheInvalidation: CacheInvalidation }> {
  readonly #cache = new ReplicatedCache(
    this.deps.cacheInvalidation,
    async () => new Map((await this.#readAll()).map((key) => [key.digest, key])),
  );
  readonly #recorded = new Map<string, number>();

  follow(subscriber: Subscriber): Promise<void> {
    return this.#cache.follow(subscriber);
  }

  /** Looks in memory, then in Redis: another process may have just created the key. */
  async find(digest: string): Promise<ApiKey | undefined> {
    return this.#cache.value.get(digest) ?? (await this.#cache.current()).get(digest);
  }

  async create(key: ApiKey): Promise<void> {
    await this.redis.hset(this.keys.apiKeys, key.digest, JSON.stringify(key));
    await this.#cache.changed();
  }

  /** Keys in order of creation. */
  async all(): Promise<UsedApiKey[]> {
    const [keys, uses] = await Promise.all([this.#readAll(), this.redis.hgetall(this.keys.apiKeyUses)]);
    return keys
      .map((key) => ({ ...key, lastUsedAt: uses[key.id] === undefined ? undefined : Number(uses[key.id]) }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** @returns the revoked key; undefined if there was none */
  async revoke(id: string): Promise<ApiKey | undefined> {
    const key = (await this.#readAll()).find((candidate) => candidate.id === id);
    if (!key) return undefined;
    // No transaction: Redis rejects MULTI when it is out of memory, and deletions free memory.
    replies(await this.redis.pipeline().hdel(this.keys.apiKeys, key.digest).hdel(this.keys.apiKeyUses, id).exec());
    this.#recorded.delete(id);
    await this.#cache.changed();
    return key;
  }

  /** Records the use of the key in the background. The key is valid even if Redis rejects the write. */
  recordUse(id: string, nowMs: number): void {
    if (nowMs - (this.#recorded.get(id) ?? 0) < RECORD_USE_EVERY_MS) return;
    this.#recorded.set(id, nowMs);
    this.redis.hset(this.keys.apiKeyUses, id, nowMs).catch(() => this.#recorded.delete(id));
  }

  async #readAll(): Promise<ApiKey[]> {
    const texts = await this.redis.hvals(this.keys.apiKeys);
    return texts.map((text) => JSON.parse(text) as ApiKey);
  }
}
