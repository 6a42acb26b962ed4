/** Event keys: on disk by ID, in memory by the hash of their secret, so that a request is authenticated without a question to Redis. */

import { type AccessListMatcher, matcherOf } from '../../model/auth/allow-lists.ts';
import { type EventKey, isStored, keyOfSetting } from '../../model/auth/event-key.ts';
import type { CacheInvalidation } from '../redis/cache-invalidation.ts';
import { type Redis, replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import { ReplicatedCache } from '../redis/replicated-cache.ts';

/** How often, at most, a process writes down that a key was used. */
const USE_NOTED_EVERY_MS = 60_000;

export type EventKeyInUse = EventKey & { allowList: AccessListMatcher };

export class EventKeys {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly #cacheInvalidation: CacheInvalidation;
  readonly #fromSettings: readonly EventKey[];
  readonly #byDigest: ReplicatedCache<Map<string, EventKeyInUse>>;
  readonly #usesNoted = new Map<string, number>();

  /** @param secrets of the setting EVENT_KEYS */
  constructor({
    redis,
    keys,
    cacheInvalidation,
    secrets,
  }: { redis: Redis; keys: Keyspace; cacheInvalidation: CacheInvalidation; secrets: readonly string[] }) {
    this.#redis = redis;
    this.#keys = keys;
    this.#cacheInvalidation = cacheInvalidation;
    this.#fromSettings = secrets.map(keyOfSetting);
    this.#byDigest = new ReplicatedCache(cacheInvalidation, async () => {
      const all = [...this.#fromSettings, ...(await this.all())];
      return new Map(all.map((key) => [key.digest, inUse(key)]));
    });
  }

  follow(subscriber: Redis): Promise<void> {
    return this.#byDigest.follow(subscriber);
  }

  /** From memory.
   *  @throws ServiceError unavailable until the keys have been read for the first time */
  find(digest: string): EventKeyInUse | undefined {
    return this.#byDigest.value.get(digest);
  }

  /** Asks the store for one that is not in memory: another process may have made it a moment ago. */
  async findOrFetch(digest: string): Promise<EventKeyInUse | undefined> {
    return (await this.#byDigest.current()).get(digest);
  }

  async read(id: string): Promise<EventKey | undefined> {
    const text = await this.#redis.hget(this.#keys.eventKeys, id);
    return text === null ? undefined : (JSON.parse(text) as EventKey);
  }

  /** In the order of their creation; without those of the settings. */
  async all(): Promise<EventKey[]> {
    const texts = await this.#redis.hvals(this.#keys.eventKeys);
    return texts.map((text) => JSON.parse(text) as EventKey).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async save(key: EventKey): Promise<void> {
    const writing = this.#redis.multi();
    writing.hset(this.#keys.eventKeys, key.id, JSON.stringify(key));
    writing.hset(this.#keys.eventKeyDigests, key.digest, key.id);
    replies(await writing.exec());
    await this.#changed();
  }

  async remove({ id, digest }: EventKey): Promise<void> {
    // No transaction: a full Redis refuses to queue anything in one, and deleting is what makes room.
    const writing = this.#redis.pipeline();
    writing.hdel(this.#keys.eventKeys, id).hdel(this.#keys.eventKeyDigests, digest).hdel(this.#keys.eventKeyUses, id);
    replies(await writing.exec());
    await this.#changed();
  }

  /** Unix milliseconds of each key's last use, by key ID; a minute behind at most. */
  async lastUses(): Promise<Map<string, number>> {
    const uses = await this.#redis.hgetall(this.#keys.eventKeyUses);
    return new Map(Object.entries(uses).map(([id, at]) => [id, Number(at)]));
  }

  /** Writes down that the key was used, now and then, and keeps nobody waiting. A note that is lost is made up for by the next. */
  recordUse(key: EventKey, nowMs: number): void {
    const { id } = key;
    if (!isStored(key) || nowMs - (this.#usesNoted.get(id) ?? 0) < USE_NOTED_EVERY_MS) return;
    this.#usesNoted.set(id, nowMs);
    this.#redis.hset(this.#keys.eventKeyUses, id, nowMs).catch(() => this.#usesNoted.delete(id));
  }

  async #changed(): Promise<void> {
    await this.#byDigest.refresh();
    await this.#cacheInvalidation.announce();
  }
}

function inUse(key: EventKey): EventKeyInUse {
  return { ...key, allowList: matcherOf(key) };
}
