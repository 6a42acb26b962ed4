/** Webhooks: name, secret key of the URL, transform. */
import type { Changes } from './changes.ts';
import type { Keyspace } from './keyspace.ts';
import { type Redis, replies } from './redis.ts';

export interface Webhook {
  id: string;
  /** The path segment that addresses it; a secret. */
  key: string;
  env: string;
  name: string;
  /** JavaScript that defines the function `transform` (spec 2.5). */
  transform: string;
  /** Another one whenever the transform is another. */
  version: string;
  /** Unix milliseconds. */
  createdAt: number;
  updatedAt: number;
}

export class Webhooks {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly #changes: Changes;

  constructor(redis: Redis, keys: Keyspace, changes: Changes) {
    this.#redis = redis;
    this.#keys = keys;
    this.#changes = changes;
  }

  async save(webhook: Webhook): Promise<void> {
    const writing = this.#redis.multi();
    writing.hset(this.#keys.webhooks, webhook.id, JSON.stringify(webhook));
    writing.hset(this.#keys.webhookKeys, webhook.key, webhook.id);
    replies(await writing.exec());
    await this.#changes.announce();
  }

  async read(id: string): Promise<Webhook | undefined> {
    const text = await this.#redis.hget(this.#keys.webhooks, id);
    return text === null ? undefined : (JSON.parse(text) as Webhook);
  }

  async readByKey(key: string): Promise<Webhook | undefined> {
    const id = await this.#redis.hget(this.#keys.webhookKeys, key);
    return id === null ? undefined : this.read(id);
  }

  /** In the order of their creation. */
  async all(): Promise<Webhook[]> {
    const texts = await this.#redis.hvals(this.#keys.webhooks);
    return texts.map((text) => JSON.parse(text) as Webhook).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async remove(webhook: Webhook): Promise<void> {
    const writing = this.#redis.multi().hdel(this.#keys.webhooks, webhook.id).hdel(this.#keys.webhookKeys, webhook.key);
    replies(await writing.exec());
    await this.#changes.announce();
  }
}
