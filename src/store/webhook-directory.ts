/** Webhooks by key, in memory, so that a request is authenticated without a question to Redis. */
import { unavailable } from './redis.ts';
import type { Webhook, Webhooks } from './webhooks.ts';

export class WebhookDirectory {
  readonly #webhooks: Webhooks;
  #byKey: Map<string, Webhook> | undefined;

  constructor(webhooks: Webhooks) {
    this.#webhooks = webhooks;
  }

  /** @throws ServiceError unavailable until the webhooks have been read for the first time */
  find(key: string): Webhook | undefined {
    if (!this.#byKey) throw unavailable('the service is starting');
    return this.#byKey.get(key);
  }

  /** Asks the store for a key that is not in memory: another process may have made the webhook a moment ago. */
  async seek(key: string): Promise<Webhook | undefined> {
    return this.#webhooks.readByKey(key);
  }

  async reload(): Promise<void> {
    this.#byKey = new Map((await this.#webhooks.all()).map((webhook) => [webhook.key, webhook]));
  }
}
