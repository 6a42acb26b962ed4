/** The API's representation of a webhook. */
import { z } from 'zod';
import { type AccessLevel, covers } from '../../model/auth/access.ts';
import { presetOf } from '../../providers/catalog.ts';
import { METHODS, verificationSchema } from '../../providers/preset.ts';
import { versionOf, type Webhook } from '../../store/webhooks/webhook.ts';
import { apiObject, textOrNull, textUpTo, time, timeOrNull, wholeOrNull } from '../http/validation.ts';
import { presentLists, shownListFields } from './list-fields.ts';
import { ownerNameSchema, presentOwner } from './owner.ts';
import { present } from './present.ts';

export const webhookNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .meta({ description: 'Name of your choice', example: 'GitHub' });

export const transformSchema = textUpTo(65_536).describe(
  'JavaScript that defines the function transform(evt, headers, queryParams, raw), which returns an event, or null to ignore the request',
);

export const largeBodiesSchema = z.object({ max_bytes: z.int(), fields: z.array(z.string()) });

export const webhookOrderSchema = z.object({
  key: z.string(),
  by: textOrNull,
  window: z.string(),
  on_stale: z.enum(['run', 'skip']),
  on_failure: z.enum(['skip', 'block', 'park']),
});

export const webhookSchema = apiObject('Webhook', {
  id: z.string(),
  name: webhookNameSchema,
  environment: ownerNameSchema,
  url: z
    .url()
    .nullable()
    .describe(
      'The URL to which the provider posts. Keep it secret: it authenticates the sender. null for a principal with read access',
    ),
  former_urls: z
    .array(z.object({ url: z.url(), until: z.iso.datetime() }))
    .describe('Previous URLs that are still valid'),
  transform: transformSchema,
  ...shownListFields,
  provider: textOrNull.describe('null: requests are not verified'),
  verify: z.boolean().describe('Whether requests are verified'),
  secrets: z
    .array(z.object({ id: z.string(), added_at: z.iso.datetime(), expires_at: timeOrNull }))
    .describe('Newest first. The texts of secrets are never shown'),
  verification: verificationSchema.nullable().describe("The user's own verification; null: the provider's"),
  settings: z.record(z.string(), z.string()),
  filter: textOrNull,
  methods: z.array(z.enum(METHODS)),
  deduplicate: z
    .boolean()
    .describe("Whether events without an `id` from the transform get the provider's ID as deduplication ID"),
  max_body_bytes: wholeOrNull,
  reconciliation: z
    .object({
      account: z.record(z.string(), z.string()),
      key_added_at: z.iso.datetime().describe('The key is never shown'),
      api_url: textOrNull.describe('In dev mode, where a fake of the provider listens'),
    })
    .nullable()
    .describe('Access to the list of what the provider sent; null: none'),
  large_bodies: largeBodiesSchema.nullable().describe('null: bodies above the limit are rejected'),
  order: webhookOrderSchema.nullable().describe('null: its events do not wait for each other'),
  version: z.int().describe('Number of the version: it grows with each change of how requests are handled'),
  paused_at: timeOrNull.describe('Time since which requests are rejected with 503; null: not paused'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** @param origin scheme and host of the URLs */
export function presentWebhook(webhook: Webhook, origin: string, nowMs: number) {
  const { env, key, formerKeys = [], provider, secrets = [], verification, settings = {} } = webhook;
  const { reconciliation } = webhook;
  return present(webhookSchema, webhook, {
    environment: presentOwner(env),
    url: `${origin}/e/${key}`,
    former_urls: formerKeys
      .filter(({ until }) => until > nowMs)
      .map((former) => ({ url: `${origin}/e/${former.key}`, until: time(former.until) as string })),
    ...presentLists(webhook),
    verify: provider !== undefined && webhook.verify !== false,
    secrets: secrets
      .filter(({ until }) => until === undefined || until > nowMs)
      .map(({ id, addedAt, until }) => ({ id, added_at: time(addedAt) as string, expires_at: time(until) })),
    verification: verification ?? null,
    settings,
    methods: [...(webhook.methods ?? presetOf(provider ?? '')?.methods ?? ['POST' as const])],
    deduplicate: provider !== undefined && webhook.deduplicate !== false,
    reconciliation: reconciliation
      ? {
          account: reconciliation.account,
          key_added_at: time(reconciliation.key.addedAt) as string,
          api_url: reconciliation.api ?? null,
        }
      : null,
    large_bodies: presentLargeBodies(webhook),
    order: presentOrder(webhook),
    version: versionOf(webhook),
  });
}

export function presentLargeBodies({ largeBodies }: Pick<Webhook, 'largeBodies'>) {
  return largeBodies ? { max_bytes: largeBodies.maxBytes, fields: [...largeBodies.fields] } : null;
}

export function presentOrder({ order }: Pick<Webhook, 'order'>): z.infer<typeof webhookOrderSchema> | null {
  if (!order) return null;
  const { key, by, windowMs, onStale, onFailure } = order;
  return { key, by: by ?? null, window: `${windowMs / 1_000}s`, on_stale: onStale, on_failure: onFailure };
}

/** Hides the URLs, which authenticate senders, from principals with read access. */
export function visibleWith(access: AccessLevel, webhook: ReturnType<typeof presentWebhook>) {
  return covers(access, 'write') ? webhook : { ...webhook, url: null, former_urls: [] };
}
