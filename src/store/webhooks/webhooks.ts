/** Webhooks: name, secret keys of the URL, transform, allow lists. */
import type { AccessLists } from '../../model/auth/allow-lists.ts';
import type { CacheInvalidation } from '../redis/cache-invalidation.ts';
import { type Redis, replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';

export interface Webhook extends AccessLists {
  id: string;
  /** The path segment that addresses it; a secret. */
  key: string;
  /** Keys from before the URL was changed, each accepted until its end. */
  formerKeys?: FormerKey[] | undefined;
  /** Name of the environment it belongs to, or BRANCHES. */
  env: string;
  name: string;
  /** JavaScript that defines the function `transform` (docs/webhooks.md#what-a-transform-gets). */
  transform: string;
  /** Changes with the transform. */
  version: string;
  /** Unix milliseconds. */
  pausedAt?: number | undefined;
  createdAt: number;
  updatedAt: number;
}

export interface FormerKey {
  key: string;
  /** Unix milliseconds. */
  until: number;
}

export class Webhooks {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly cacheInvalidation: CacheInvalidation;

  constructor(redis: Redis, keys: Keyspace, cacheInvalidation: CacheInvalidation) {
    this.#redis = redis;
    this.#keys = keys;
    this.cacheInvalidation = cacheInvalidation;
  }

  async save(webhook: Webhook): Promise<void> {
    const writing = this.#redis.multi();
    writing.hset(this.#keys.webhooks, webhook.id, JSON.stringify(webhook));
    for (const key of keysOf(webhook)) writing.hset(this.#keys.webhookKeys, key, webhook.id);
    replies(await writing.exec());
    await this.cacheInvalidation.announce();
  }

  async read(id: string): Promise<Webhook | undefined> {
    const text = await this.#redis.hget(this.#keys.webhooks, id);
    return text === null ? undefined : (JSON.parse(text) as Webhook);
  }

  async readByKey(key: string): Promise<Webhook | undefined> {
    const id = await this.#redis.hget(this.#keys.webhookKeys, key);
    return id === null ? undefined : this.read(id);
  }

  /** In the order of creation. */
  async all(): Promise<Webhook[]> {
    const texts = await this.#redis.hvals(this.#keys.webhooks);
    return texts.map((text) => JSON.parse(text) as Webhook).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Sets another key. The current key and former ones are accepted until `keepUntil` at the latest. */
  async rotate(webhook: Webhook, key: string, keepUntil: number, nowMs: number): Promise<Webhook> {
    const former = [...(webhook.formerKeys ?? []), { key: webhook.key, until: keepUntil }]
      .map((old) => ({ ...old, until: Math.min(old.until, keepUntil) }))
      .filter(({ until }) => until > nowMs);
    const rotated = { ...webhook, key, formerKeys: former, updatedAt: nowMs };
    await this.save(rotated);
    const kept = new Set(keysOf(rotated));
    const gone = keysOf(webhook).filter((old) => !kept.has(old));
    if (gone.length > 0) await this.#redis.hdel(this.#keys.webhookKeys, ...gone);
    return rotated;
  }

  async remove(webhook: Webhook): Promise<void> {
    // No transaction: Redis refuses MULTI when it is out of memory, and deletions make room.
    const writing = this.#redis.pipeline().hdel(this.#keys.webhooks, webhook.id);
    writing.hdel(this.#keys.webhookKeys, ...keysOf(webhook));
    replies(await writing.exec());
    await this.cacheInvalidation.announce();
  }
}

/** Whether the webhook accepts the key now. */
export function hasKey(webhook: Webhook, key: string, nowMs: number): boolean {
  if (webhook.key === key) return true;
  return webhook.formerKeys?.some((former) => former.key === key && former.until > nowMs) ?? false;
}

export function keysOf({ key, formerKeys = [] }: Webhook): [string, ...string[]] {
  return [key, ...formerKeys.map((former) => former.key)];
}
