/** Webhooks by key, in memory, so that a request is authenticated without a question to Redis. */
import type { Changes } from './changes.ts';
import { type Redis, unavailable } from './redis.ts';
import type { Webhook, Webhooks } from './webhooks.ts';

const READ_AGAIN_MS = 200;

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

  /** Reads the webhooks now and at every change. Resolves when they have been read for the first time; a reading that fails is
   *  repeated until one succeeds.
   *  @param subscriber a connection used for nothing else */
  follow(changes: Changes, subscriber: Redis): Promise<void> {
    const firstRead = Promise.withResolvers<void>();
    const read = () => this.#read().then(firstRead.resolve, () => void setTimeout(read, READ_AGAIN_MS).unref());
    changes.subscribe(subscriber, read);
    return firstRead.promise;
  }

  async #read(): Promise<void> {
    this.#byKey = new Map((await this.#webhooks.all()).map((webhook) => [webhook.key, webhook]));
  }
}
