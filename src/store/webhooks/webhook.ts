/** A webhook: name, secret URL keys, provider with secrets, filter, transform, allow lists. */
import { isDeepStrictEqual } from 'node:util';
import type { AccessLists } from '../../model/auth/allow-lists.ts';
import type { SealedSecret } from '../../model/auth/seal.ts';
import type { LargeBodySetting } from '../../model/webhooks/large-bodies.ts';
import type { WebhookOrder } from '../../model/webhooks/webhook-order.ts';
import type { Method, VerificationScheme } from '../../providers/preset.ts';

export interface Webhook extends AccessLists {
  id: string;
  /** Secret path segment of its URL. */
  key: string;
  /** Former URL keys, each accepted until its end. */
  formerKeys?: FormerKey[] | undefined;
  /** Name of the environment it belongs to, or BRANCHES. */
  env: string;
  name: string;
  /** JavaScript that defines the function `transform` (docs/transforms.md#what-a-transform-gets). */
  transform: string;
  /** Increases with each save of a versioned field, from 1. Webhooks that predate versions have a text. */
  version: number | string;
  /** ID of a preset; absent: requests are not verified. */
  provider?: string | undefined;
  /** Scheme, if the preset leaves the choice to the user. */
  verification?: VerificationScheme | undefined;
  /** Keyed by the names of the preset's settings. */
  settings?: Record<string, string> | undefined;
  /** Newest first. */
  secrets?: StoredSecret[] | undefined;
  /** false: requests are accepted without verification. */
  verify?: boolean | undefined;
  /** CEL over `method`, `headers`, `query` and `body`: requests that do not meet it make no event. */
  filter?: string | undefined;
  /** Absent: the preset's methods, or POST. */
  methods?: Method[] | undefined;
  /** false: events have no deduplication ID except the transform's. */
  deduplicate?: boolean | undefined;
  /** Absent: the limit of the environment. */
  maxBodyBytes?: number | undefined;
  /** Absent: received requests are not compared with those that the provider sent. */
  reconciliation?: Reconciliation | undefined;
  /** Absent: larger bodies are rejected. */
  largeBodies?: LargeBodySetting | undefined;
  /** Absent: its events do not wait for each other. */
  order?: WebhookOrder | undefined;
  /** Unix milliseconds. */
  pausedAt?: number | undefined;
  createdAt: number;
  updatedAt: number;
}

/** Access to the provider's list of what it sent. */
export interface Reconciliation {
  /** The account whose list is read: values of the preset's account fields. */
  account: Record<string, string>;
  /** Credential for the provider's API. */
  key: StoredSecret;
  /** URL of a fake of the provider, in dev mode. */
  api?: string | undefined;
  /** The IDs of requests received since then are known, Unix milliseconds. */
  since: number;
}

export interface FormerKey {
  key: string;
  /** Unix milliseconds. */
  until: number;
}

/** Sealed for `webhook:<webhook ID>:<secret ID>`. */
export type StoredSecret = SealedSecret;

/** Whether the webhook accepts the key now. */
export function hasKey(webhook: Webhook, key: string, nowMs: number): boolean {
  if (webhook.key === key) return true;
  return webhook.formerKeys?.some((former) => former.key === key && former.until > nowMs) ?? false;
}

export function keysOf({ key, formerKeys = [] }: Webhook): [string, ...string[]] {
  return [key, ...formerKeys.map((former) => former.key)];
}

/** Fields that determine how a request is handled: changing them makes a new version. Secrets are excluded: they are changed separately,
 *  and never shown. */
export const VERSIONED_FIELDS = [
  'transform',
  'filter',
  'provider',
  'verification',
  'settings',
  'verify',
  'methods',
  'deduplicate',
  'maxBodyBytes',
  'largeBodies',
  'order',
] as const satisfies (keyof Webhook)[];

export type VersionedField = (typeof VERSIONED_FIELDS)[number];

export function sealedSecretsOf({ secrets = [], reconciliation }: Webhook): StoredSecret[] {
  return reconciliation ? [...secrets, reconciliation.key] : secrets;
}

/** The versioned fields of a webhook at some time. */
export type WebhookSnapshot = Pick<Webhook, VersionedField>;

/** Number of the current version. */
export function versionOf({ version }: Pick<Webhook, 'version'>): number {
  return typeof version === 'number' ? version : 1;
}

/** Normalized: absent fields, and values equivalent to absent ones, are undefined. */
export function snapshotOf(webhook: WebhookSnapshot): WebhookSnapshot {
  const {
    transform,
    filter,
    provider,
    verification,
    settings = {},
    verify,
    methods,
    deduplicate,
    maxBodyBytes,
    largeBodies,
    order,
  } = webhook;
  return {
    transform,
    filter,
    provider,
    verification,
    settings: Object.keys(settings).length > 0 ? settings : undefined,
    verify: verify === false ? false : undefined,
    methods,
    deduplicate: deduplicate === false ? false : undefined,
    maxBodyBytes,
    largeBodies,
    order,
  };
}

/** Names of versioned fields that differ. */
export function changedFields(before: Partial<WebhookSnapshot>, after: WebhookSnapshot): VersionedField[] {
  const earlier = snapshotOf(before as WebhookSnapshot);
  const later = snapshotOf(after);
  return VERSIONED_FIELDS.filter((field) => !isDeepStrictEqual(earlier[field], later[field]));
}
