/** Event keys: stored by ID, and cached in memory by the hash of their secret, so that requests are authenticated without Redis. */
import { type AccessListMatcher, matcherOf } from '../../model/auth/allow-lists.ts';
import { type EventKey, isStored, keyOfSetting } from '../../model/auth/event-key.ts';
import { type CacheInvalidation, ReplicatedCache } from '../redis/caching/cache-invalidation.ts';
import { type Redis, replies } from '../redis/connection/connection.ts';
import type { Subscriber } from '../redis/connection/pub-sub.ts';
import { Repository } from '../redis/repository.ts';

/** Interval at which a process records the use of a key. */
const RECORD_USE_EVERY_MS = 60_000;

export type EventKeyInUse = EventKey & { allowList: AccessListMatcher };

export class EventKeys extends Repository<
  Redis,
  {
    cacheInvalidation: CacheInvalidation;
    /** Secrets of the setting EVENT_KEYS. */
    secrets: readonly string[];
  }
> {
  readonly #fromSettings: readonly EventKey[] = this.deps.secrets.map(keyOfSetting);
  readonly #byDigest = new ReplicatedCache(this.deps.cacheInvalidation, async () => {
    const all = [...this.#fromSettings, ...(await this.all())];
    return new Map(all.map((key) => [key.digest, { ...key, allowList: matcherOf(key) }]));
  });
  readonly #usesRecorded = new Map<string, number>();

  follow(subscriber: Subscriber): Promise<void> {
    return this.#byDigest.follow(subscriber);
  }

  /** Looks in memory only.
   *  @throws ServiceError unavailable until the keys have been read for the first time */
  find(digest: string): EventKeyInUse | undefined {
    return this.#byDigest.value.get(digest);
  }

  /** Looks in memory, then in Redis: another process may have just created the key. */
  async findOrFetch(digest: string): Promise<EventKeyInUse | undefined> {
    return (await this.#byDigest.current()).get(digest);
  }

  async read(id: string): Promise<EventKey | undefined> {
    const text = await this.redis.hget(this.keys.eventKeys, id);
    return text === null ? undefined : (JSON.parse(text) as EventKey);
  }

  /** Keys in order of creation, without keys of settings. */
  async all(): Promise<EventKey[]> {
    const texts = await this.redis.hvals(this.keys.eventKeys);
    return texts.map((text) => JSON.parse(text) as EventKey).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async save(key: EventKey): Promise<void> {
    const writing = this.redis.multi();
    writing.hset(this.keys.eventKeys, key.id, JSON.stringify(key));
    writing.hset(this.keys.eventKeyDigests, key.digest, key.id);
    replies(await writing.exec());
    await this.#byDigest.changed();
  }

  async remove({ id, digest }: EventKey): Promise<void> {
    // No transaction: Redis rejects MULTI when it is out of memory, and deletions free memory.
    const writing = this.redis.pipeline();
    writing.hdel(this.keys.eventKeys, id).hdel(this.keys.eventKeyDigests, digest).hdel(this.keys.eventKeyUses, id);
    replies(await writing.exec());
    await this.#byDigest.changed();
  }

  /** Last use of each key in Unix milliseconds, by key ID; up to a minute old. */
  async lastUses(): Promise<Map<string, number>> {
    const uses = await this.redis.hgetall(this.keys.eventKeyUses);
    return new Map(Object.entries(uses).map(([id, at]) => [id, Number(at)]));
  }

  /** Records the use of the key in the background. If that fails, the next use is recorded. */
  recordUse(key: EventKey, nowMs: number): void {
    const { id } = key;
    if (!isStored(key) || nowMs - (this.#usesRecorded.get(id) ?? 0) < RECORD_USE_EVERY_MS) return;
    this.#usesRecorded.set(id, nowMs);
    this.redis.hset(this.keys.eventKeyUses, id, nowMs).catch(() => this.#usesRecorded.delete(id));
  }
}
