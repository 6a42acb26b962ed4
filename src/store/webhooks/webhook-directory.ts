/** Webhooks by the hash of their keys, cached in memory, so that a request is authenticated without Redis. */
import { digestOf } from '../../model/auth/secret.ts';
import { ReplicatedCache } from '../redis/caching/cache-invalidation.ts';
import type { Subscriber } from '../redis/connection/pub-sub.ts';
import { hasKey, keysOf } from './webhook.ts';
import type { WebhookInUse } from './webhook-in-use.ts';
import type { Webhooks } from './webhooks.ts';

export interface DirectoryChanges {
  /** Called after each read that finds a webhook. */
  onSome?(): void;
  /** Called for each webhook deleted or changed since the last read. */
  onGone?(id: string): void;
}

export class WebhookDirectory {
  readonly #byDigest: ReplicatedCache<Map<string, WebhookInUse>>;
  #reconciled: readonly WebhookInUse[] = [];

  /** @param changes callbacks after a read */
  constructor(webhooks: Webhooks, { onSome, onGone }: DirectoryChanges = {}) {
    let versions = new Map<string, number | string>();
    this.#byDigest = new ReplicatedCache(webhooks.cacheInvalidation, async () => {
      const all = (await webhooks.all()).map((webhook) => webhooks.inUse(webhook));
      this.#reconciled = all.filter(({ reconciliation }) => reconciliation !== undefined);
      if (all.length > 0) onSome?.();
      const before = versions;
      versions = new Map(all.map(({ id, version }) => [id, version]));
      for (const [id, version] of before) if (versions.get(id) !== version) onGone?.(id);
      return new Map(all.flatMap((webhook) => keysOf(webhook).map((key) => [digestOf(key), webhook] as const)));
    });
  }

  follow(subscriber: Subscriber): Promise<void> {
    return this.#byDigest.follow(subscriber);
  }

  /** Webhooks that are reconciled with their provider's list. */
  get reconciled(): readonly WebhookInUse[] {
    return this.#reconciled;
  }

  /** @param digest digest of the key
   *  @throws ServiceError unavailable until the webhooks have been read for the first time */
  find(key: string, digest: string, nowMs: number): WebhookInUse | undefined {
    const webhook = this.#byDigest.value.get(digest);
    return webhook && hasKey(webhook, key, nowMs) ? webhook : undefined;
  }

  /** Looks in memory, then in Redis: another process may have just created the webhook. */
  async findOrFetch(key: string, digest: string, nowMs: number): Promise<WebhookInUse | undefined> {
    await this.#byDigest.current();
    return this.find(key, digest, nowMs);
  }
}
