/** Stored webhooks and their keys. A write is rejected if another process has written in the meantime: no concurrent save is lost, and a
 *  version number never has two contents. */
import { notFound, ServiceError } from '../../errors.ts';
import type { Sealer } from '../../model/auth/seal.ts';
import type { CacheInvalidation } from '../redis/caching/cache-invalidation.ts';
import { inPipelines, replies, type ScriptedRedis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import { changedFields, keysOf, type StoredSecret, versionOf, type Webhook } from './webhook.ts';
import { inUse, sealLocation, type WebhookInUse } from './webhook-in-use.ts';
import { toArguments, VERSION_BOUNDS, type VersionBounds, type VersionOrigin } from './webhook-versions.ts';

/** Number of concurrent saves of a webhook that all succeed. */
const TRIES_MAX = 100;

export class Webhooks extends Repository<
  ScriptedRedis,
  { sealer: Sealer; cacheInvalidation: CacheInvalidation; bounds?: VersionBounds | undefined }
> {
  readonly cacheInvalidation = this.deps.cacheInvalidation;

  /** The webhook, compiled for requests. */
  inUse(webhook: Webhook): WebhookInUse {
    return inUse(webhook, this.deps.sealer);
  }

  seal(webhookId: string, secretId: string, secret: string): string {
    return this.deps.sealer.seal(secret, sealLocation(webhookId, secretId));
  }

  /** undefined if SECRET_KEY has changed. */
  open(webhookId: string, secrets: readonly StoredSecret[]): string[] | undefined {
    const opened = secrets.map(({ id, sealed }) => this.deps.sealer.tryOpen(sealed, sealLocation(webhookId, id)));
    return opened.every((secret) => secret !== undefined) ? opened : undefined;
  }

  async create(webhook: Webhook, origin: VersionOrigin = {}): Promise<void> {
    const changed = changedFields({}, webhook);
    await this.#write(undefined, webhook, toArguments(webhook, { ...origin, createdAt: webhook.createdAt, changed }));
  }

  /** Changes a webhook atomically, with a new version if a versioned field changes: no concurrent change is lost.
   *  @param change may be called several times; if it throws, nothing changes
   *  @throws ServiceError not_found; version_conflict if other processes keep changing it */
  async change(id: string, change: (before: Webhook) => Webhook, origin: VersionOrigin = {}): Promise<Webhook> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const text = await this.redis.hget(this.keys.webhooks, id);
      if (text === null) throw notFound('webhook', id);
      const before = JSON.parse(text) as Webhook;
      const edited = change(before);
      const changed = changedFields(before, edited);
      if (changed.length === 0) {
        const after = { ...edited, version: before.version };
        if (await this.#write({ text, webhook: before }, after)) return after;
        continue;
      }
      const after = { ...edited, version: versionOf(before) + 1 };
      const saved = { ...origin, createdAt: Date.now(), changed };
      const versions = [...toArguments(before), ...toArguments(after, saved)];
      if (await this.#write({ text, webhook: before }, after, versions)) return after;
    }
    throw new ServiceError('version_conflict', { detail: 'others keep changing it; try again' });
  }

  /** @returns false if the webhook had changed since it was read */
  async #write(
    before: { text: string; webhook: Webhook } | undefined,
    webhook: Webhook,
    versions: readonly string[] = [],
  ): Promise<boolean> {
    const kept = new Set<string>(keysOf(webhook));
    const gone = before ? keysOf(before.webhook).filter((key) => !kept.has(key)) : [];
    const { maxVersions, maxBytes } = this.deps.bounds ?? VERSION_BOUNDS;
    const { id } = webhook;
    const written = await this.redis.saveWebhook(
      this.keys.webhooks,
      this.keys.webhookKeys,
      this.keys.webhookVersions(id),
      id,
      before?.text ?? '',
      JSON.stringify(webhook),
      JSON.stringify([...kept]),
      JSON.stringify(gone),
      maxVersions,
      maxBytes,
      ...versions,
    );
    if (written !== 1) return false;
    await this.cacheInvalidation.announce();
    return true;
  }

  async read(id: string): Promise<Webhook | undefined> {
    const text = await this.redis.hget(this.keys.webhooks, id);
    return text === null ? undefined : (JSON.parse(text) as Webhook);
  }

  /** Unknown IDs are left out. */
  async readEach(ids: readonly string[]): Promise<Webhook[]> {
    if (ids.length === 0) return [];
    const texts = await this.redis.hmget(this.keys.webhooks, ...ids);
    return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as Webhook]));
  }

  /** The IDs that belong to a webhook. */
  async existing(ids: readonly string[]): Promise<Set<string>> {
    const commands = ids.map((id) => ['hexists', this.keys.webhooks, id]);
    const found = await inPipelines<number>(this.redis, commands);
    return new Set(ids.filter((_, i) => found[i] === 1));
  }

  /** Webhooks in order of creation. */
  async all(): Promise<Webhook[]> {
    const texts = await this.redis.hvals(this.keys.webhooks);
    return texts.map((text) => JSON.parse(text) as Webhook).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Sets a new key. The current key and former ones are accepted until `keepUntil` at the latest.
   *  @throws ServiceError not_found; version_conflict */
  rotate(id: string, key: string, keepUntil: number, nowMs: number): Promise<Webhook> {
    return this.change(id, (webhook) => {
      const formerKeys = [...(webhook.formerKeys ?? []), { key: webhook.key, until: keepUntil }]
        .map((old) => ({ ...old, until: Math.min(old.until, keepUntil) }))
        .filter(({ until }) => until > nowMs);
      return { ...webhook, key, formerKeys, updatedAt: nowMs };
    });
  }

  async remove(webhook: Webhook): Promise<void> {
    // No transaction: Redis rejects MULTI when it is out of memory, and deletions free memory.
    const writing = this.redis.pipeline().hdel(this.keys.webhooks, webhook.id);
    writing.hdel(this.keys.webhookKeys, ...keysOf(webhook));
    writing.del(this.keys.webhookVersions(webhook.id));
    replies(await writing.exec());
    await this.cacheInvalidation.announce();
  }
}
