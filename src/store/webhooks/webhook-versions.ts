/** The last versions of each webhook: author, time and content. Webhooks write them (webhooks.ts); a webhook saved before versions
 *  existed has none until its next save. */
import type { Principal } from '../../model/auth/access.ts';
import { Repository } from '../redis/repository.ts';
import { snapshotOf, type VersionedField, versionOf, type Webhook, type WebhookSnapshot } from './webhook.ts';

/** Beyond these limits the oldest versions are dropped; the live one stays. */
export interface VersionBounds {
  maxVersions: number;
  maxBytes: number;
}

export const VERSION_BOUNDS: VersionBounds = { maxVersions: 100, maxBytes: 2 * 1_048_576 };

export type Author = Pick<Principal, 'kind' | 'id' | 'name'>;

/** Author of a version, and the reason. */
export interface VersionOrigin {
  author?: Author | undefined;
  message?: string | undefined;
  /** The version whose content this version restores. */
  restoredFrom?: number | undefined;
}

export interface WebhookVersion extends VersionOrigin {
  version: number;
  /** Unix milliseconds. */
  createdAt: number;
  /** Fields that differ from the previous version; for the first one, all fields set. */
  changed: VersionedField[];
}

export class WebhookVersions extends Repository {
  /** Newest first.
   *  @param before number of the last version of the previous page
   *  @returns also the number after which the next page begins; undefined on the last page */
  async list(
    webhook: Webhook,
    { limit, before }: { limit: number; before?: number | undefined },
  ): Promise<{ versions: WebhookVersion[]; next: number | undefined }> {
    const live = versionOf(webhook);
    const first = Math.min(live, (before ?? Number.POSITIVE_INFINITY) - 1);
    const numbers = Array.from({ length: Math.min(limit + 1, first) }, (_, i) => first - i);
    if (numbers.length === 0) return { versions: [], next: undefined };
    const texts = await this.redis.hmget(this.keys.webhookVersions(webhook.id), ...numbers.map(String));
    const found = numbers.flatMap((number, i) => versionFrom(number, texts[i]) ?? []);
    if (found.length === 0 && first === live) return { versions: [liveVersion(webhook)], next: undefined };
    const versions = found.slice(0, limit);
    return { versions, next: found.length > limit ? versions.at(-1)?.version : undefined };
  }

  /** undefined if there is no such version, or it was dropped. */
  async read(
    webhook: Webhook,
    number: number,
  ): Promise<{ version: WebhookVersion; snapshot: WebhookSnapshot } | undefined> {
    const [text, snapshot] = await this.redis.hmget(
      this.keys.webhookVersions(webhook.id),
      String(number),
      `${number}:snapshot`,
    );
    const version = versionFrom(number, text);
    if (version && snapshot) return { version, snapshot: JSON.parse(snapshot) as WebhookSnapshot };
    if (number !== versionOf(webhook)) return undefined;
    return { version: liveVersion(webhook), snapshot: snapshotOf(webhook) };
  }
}

/** The live version of a webhook, as arguments of save-webhook.lua.
 *  @param saved absent if it predates versions */
export function toArguments(
  webhook: Webhook,
  saved: Pick<WebhookVersion, 'createdAt' | 'changed'> & VersionOrigin = fromBefore(webhook),
): string[] {
  return [String(versionOf(webhook)), JSON.stringify(saved), JSON.stringify(snapshotOf(webhook))];
}

function fromBefore({ updatedAt }: Webhook): Pick<WebhookVersion, 'createdAt' | 'changed'> {
  return { createdAt: updatedAt, changed: [] };
}

function liveVersion(webhook: Webhook): WebhookVersion {
  return { version: versionOf(webhook), ...fromBefore(webhook) };
}

function versionFrom(version: number, text: string | null | undefined): WebhookVersion | undefined {
  return text ? { version, ...(JSON.parse(text) as Omit<WebhookVersion, 'version'>) } : undefined;
}
