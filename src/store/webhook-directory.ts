/** Webhooks by key, in memory, so that a request is authenticated without a question to Redis. */
import type { Changes } from './changes.ts';
import { Mirror } from './mirror.ts';
import type { Redis } from './redis.ts';
import type { Webhook, Webhooks } from './webhooks.ts';

export class WebhookDirectory {
  readonly #webhooks: Webhooks;
  readonly #byKey: Mirror<Map<string, Webhook>>;

  constructor(webhooks: Webhooks) {
    this.#webhooks = webhooks;
    this.#byKey = new Mirror(async () => new Map((await webhooks.all()).map((webhook) => [webhook.key, webhook])));
  }

  follow(changes: Changes, subscriber: Redis): Promise<void> {
    return this.#byKey.follow(changes, subscriber);
  }

  /** @throws ServiceError unavailable until the webhooks have been read for the first time */
  find(key: string): Webhook | undefined {
    return this.#byKey.value.get(key);
  }

  /** Asks the store for a key that is not in memory: another process may have made the webhook a moment ago. */
  async seek(key: string): Promise<Webhook | undefined> {
    return this.#webhooks.readByKey(key);
  }
}
