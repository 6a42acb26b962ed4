/** `/v1/webhooks`: making, reading, changing and deleting webhooks (spec 2.4, 4.3). */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { newId } from '../../model/ids.ts';
import type { Webhook, Webhooks } from '../../store/webhooks.ts';
import type { Transforms } from '../../transforms/transforms.ts';
import { type Route, route } from '../route.ts';

const DEFAULT_TRANSFORM = `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: "webhook/received",
    data: { body: evt, query: queryParams },
  };
}
`;
const KEY_BYTES = 32;

const nameSchema = z.string().trim().min(1).max(100).meta({ description: 'Name of your choice', example: 'GitHub' });
const transformSchema = z.string().min(1).max(65_536).meta({
  description:
    'JavaScript that defines the function transform(evt, headers, queryParams, raw); it returns an event, or null for none',
});
const webhookSchema = z
  .object({
    id: z.string(),
    name: nameSchema,
    url: z.url().meta({ description: 'Where the provider posts to. Whoever knows it can send: keep it secret' }),
    transform: transformSchema,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Webhook' });
const params = z.object({ id: z.string() });

export interface WebhookRouteDeps {
  webhooks: Webhooks;
  transforms: Transforms;
  publicUrl: string | undefined;
}

export function webhookRoutes({ webhooks, transforms, publicUrl }: WebhookRouteDeps): Route[] {
  const tag = 'Webhooks';

  const present = ({ id, name, key, transform, createdAt, updatedAt }: Webhook, origin: string) => ({
    id,
    name,
    url: `${publicUrl ?? origin}/e/${key}`,
    transform,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  });

  async function existing(id: string): Promise<Webhook> {
    const webhook = await webhooks.read(id);
    if (!webhook) throw new ServiceError('not_found', { detail: `no webhook has the id "${id}"` });
    return webhook;
  }

  return [
    route({
      method: 'post',
      path: '/v1/webhooks',
      tag,
      access: 'write',
      about: 'account',
      summary: 'Make a webhook',
      body: z.object({ name: nameSchema, transform: transformSchema.default(DEFAULT_TRANSFORM) }),
      status: 201,
      data: webhookSchema,
      errors: ['transform_invalid'],
      async handle({ body: { name, transform }, origin }) {
        await transforms.check(transform);
        const now = Date.now();
        const key = randomBytes(KEY_BYTES).toString('base64url');
        const webhook = {
          id: newId(),
          key,
          env: PRODUCTION,
          name,
          transform,
          version: newId(),
          createdAt: now,
          updatedAt: now,
        };
        await webhooks.save(webhook);
        return { data: present(webhook, origin) };
      },
    }),
    route({
      method: 'get',
      path: '/v1/webhooks',
      tag,
      access: 'read',
      about: 'account',
      summary: 'List webhooks',
      data: z.array(webhookSchema),
      errors: [],
      async handle({ origin }) {
        return { data: (await webhooks.all()).map((webhook) => present(webhook, origin)) };
      },
    }),
    route({
      method: 'get',
      path: '/v1/webhooks/:id',
      tag,
      access: 'read',
      about: 'account',
      summary: 'Read a webhook',
      params,
      data: webhookSchema,
      errors: ['not_found'],
      async handle({ params: { id }, origin }) {
        return { data: present(await existing(id), origin) };
      },
    }),
    route({
      method: 'put',
      path: '/v1/webhooks/:id',
      tag,
      access: 'write',
      about: 'account',
      summary: 'Change a webhook',
      description: 'A field that is left out stays as it is. The URL stays the same.',
      params,
      body: z.object({ name: nameSchema.optional(), transform: transformSchema.optional() }),
      data: webhookSchema,
      errors: ['not_found', 'transform_invalid'],
      async handle({ params: { id }, body, origin }) {
        const before = await existing(id);
        const transform = body.transform ?? before.transform;
        if (transform !== before.transform) await transforms.check(transform);
        const version = transform === before.transform ? before.version : newId();
        const webhook = { ...before, name: body.name ?? before.name, transform, version, updatedAt: Date.now() };
        await webhooks.save(webhook);
        return { data: present(webhook, origin) };
      },
    }),
    route({
      method: 'delete',
      path: '/v1/webhooks/:id',
      tag,
      access: 'write',
      about: 'account',
      summary: 'Delete a webhook',
      description: 'Its URL answers 401 from then on.',
      params,
      errors: ['not_found'],
      async handle({ params: { id } }) {
        await webhooks.remove(await existing(id));
        return {};
      },
    }),
  ];
}
