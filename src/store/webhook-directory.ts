/** Webhooks by the hash of their keys, in memory, so that a request is authenticated without a question to Redis. */
import { type Gate, gateOf } from '../model/lists.ts';
import { digestOf } from '../model/secret.ts';
import type { Changes } from './changes.ts';
import { Mirror } from './mirror.ts';
import type { Redis } from './redis.ts';
import { hasKey, keysOf, type Webhook, type Webhooks } from './webhooks.ts';

export type WebhookInUse = Webhook & { gate: Gate };

export class WebhookDirectory {
  readonly #webhooks: Webhooks;
  readonly #byDigest: Mirror<Map<string, WebhookInUse>>;

  constructor(webhooks: Webhooks) {
    this.#webhooks = webhooks;
    this.#byDigest = new Mirror(async () => {
      const all = (await webhooks.all()).map(inUse);
      return new Map(all.flatMap((webhook) => keysOf(webhook).map((key) => [digestOf(key), webhook] as const)));
    });
  }

  follow(changes: Changes, subscriber: Redis): Promise<void> {
    return this.#byDigest.follow(changes, subscriber);
  }

  /** @param digest of the key
   *  @throws ServiceError unavailable until the webhooks have been read for the first time */
  find(key: string, digest: string, nowMs: number): WebhookInUse | undefined {
    const webhook = this.#byDigest.value.get(digest);
    return webhook && hasKey(webhook, key, nowMs) ? webhook : undefined;
  }

  /** Asks the store for a key that is not in memory: another process may have made the webhook a moment ago. */
  async seek(key: string, nowMs: number): Promise<WebhookInUse | undefined> {
    const webhook = await this.#webhooks.readByKey(key);
    return webhook && hasKey(webhook, key, nowMs) ? inUse(webhook) : undefined;
  }
}

export function inUse(webhook: Webhook): WebhookInUse {
  return { ...webhook, gate: gateOf(webhook) };
}
