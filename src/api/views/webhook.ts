/** A webhook as callers see it. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { covers, type Principal } from '../../model/auth/access.ts';
import type { Webhook, Webhooks } from '../../store/webhooks/webhooks.ts';
import { presentLists, shownListFields } from './list-fields.ts';
import { presentOwner, shownOwnerSchema } from './owner.ts';
import { time } from './time.ts';

export const webhookNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .meta({ description: 'Name of your choice', example: 'GitHub' });

export const transformSchema = z.string().min(1).max(65_536).meta({
  description:
    'JavaScript that defines the function transform(evt, headers, queryParams, raw); it returns an event, or null for none',
});

export const webhookSchema = z
  .object({
    id: z.string(),
    name: webhookNameSchema,
    environment: shownOwnerSchema,
    url: z.url().nullable().meta({
      description:
        'Where the provider posts to. Whoever knows it can send: keep it secret. null for a caller with read access',
    }),
    former_urls: z
      .array(z.object({ url: z.url(), until: z.iso.datetime() }))
      .meta({ description: 'Changed, and still taken until then' }),
    transform: transformSchema,
    ...shownListFields,
    paused_at: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'Since when its requests are answered 503; null: not paused' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Webhook' });

/** @param origin of the URLs */
export function presentWebhook(webhook: Webhook, origin: string, nowMs: number) {
  const { id, name, env, key, formerKeys = [], transform, pausedAt, createdAt, updatedAt } = webhook;
  return {
    id,
    name,
    environment: presentOwner(env),
    url: `${origin}/e/${key}`,
    former_urls: formerKeys
      .filter(({ until }) => until > nowMs)
      .map((former) => ({ url: `${origin}/e/${former.key}`, until: time(former.until) })),
    transform,
    ...presentLists(webhook),
    paused_at: time(pausedAt),
    created_at: time(createdAt),
    updated_at: time(updatedAt),
  };
}

/** Whoever knows a URL can send through it, so one who may only look is not told. */
export function shownTo(caller: Principal, shown: ReturnType<typeof presentWebhook>) {
  return covers(caller.access, 'write') ? shown : { ...shown, url: null, former_urls: [] };
}

/** @throws ServiceError not_found */
export async function existingWebhook(webhooks: Webhooks, id: string): Promise<Webhook> {
  const webhook = await webhooks.read(id);
  if (!webhook) throw new ServiceError('not_found', { detail: `no webhook has the id "${id}"` });
  return webhook;
}
