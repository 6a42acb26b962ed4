/** `/v1/webhooks`: making, reading, changing and deleting webhooks (docs/webhooks.md#create-a-webhook). */
import { z } from 'zod';
import { newSecret } from '../../model/auth/secret.ts';
import { newId } from '../../model/ids.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { WebhookLog } from '../../store/webhooks/webhook-log.ts';
import type { Webhook, Webhooks } from '../../store/webhooks/webhooks.ts';
import type { Transforms } from '../../transforms/transforms.ts';
import { listReply } from '../rest/list-response.ts';
import { inNames, pageOf, pageQuery } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';
import { listFields, listsOf } from '../views/list-fields.ts';
import { checkOwner, ownerSchema } from '../views/owner.ts';
import {
  existingWebhook,
  presentWebhook,
  shownTo,
  transformSchema,
  webhookNameSchema,
  webhookSchema,
} from '../views/webhook.ts';

const DEFAULT_TRANSFORM = `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: "webhook/received",
    data: { body: evt, query: queryParams },
  };
}
`;

const params = z.object({ id: z.string() });

export interface WebhookRouteDeps {
  config: { publicUrl: string | undefined };
  environments: Environments;
  webhooks: Webhooks;
  webhookLog: WebhookLog;
  transforms: Transforms;
}

export function webhookRoutes({ config, environments, webhooks, webhookLog, transforms }: WebhookRouteDeps): Route[] {
  const tag = 'Webhooks';
  const about = 'account';
  const present = (webhook: Webhook, origin: string) => presentWebhook(webhook, config.publicUrl ?? origin, Date.now());

  return [
    route({
      method: 'post',
      path: '/v1/webhooks',
      tag,
      access: 'write',
      about,
      summary: 'Make a webhook',
      body: z.object({
        name: webhookNameSchema,
        environment: ownerSchema,
        transform: transformSchema.default(DEFAULT_TRANSFORM),
        ...listFields,
      }),
      status: 201,
      data: webhookSchema,
      errors: ['transform_invalid', 'environment_unknown', 'environment_archived'],
      async handle({ body: { name, environment, transform, ...lists }, origin }) {
        await checkOwner(environment, environments);
        await transforms.check(transform);
        const now = Date.now();
        const webhook: Webhook = {
          id: newId(),
          key: newSecret(),
          env: environment,
          name,
          transform,
          version: newId(),
          ...listsOf(lists),
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
      about,
      summary: 'List webhooks',
      description: 'In the order of their creation.',
      query: z.object(pageQuery(inNames)),
      data: z.array(webhookSchema),
      errors: [],
      async handle({ query, caller, origin }) {
        const { page, next } = pageOf(await webhooks.all(), ({ id }) => id, query);
        const shown = (webhook: Webhook) => shownTo(caller, present(webhook, origin));
        return listReply(page, { present: shown, positionOf: ({ id }) => id, next });
      },
    }),
    route({
      method: 'get',
      path: '/v1/webhooks/:id',
      tag,
      access: 'read',
      about,
      summary: 'Read a webhook',
      params,
      data: webhookSchema,
      errors: ['not_found'],
      async handle({ params: { id }, caller, origin }) {
        return { data: shownTo(caller, present(await existingWebhook(webhooks, id), origin)) };
      },
    }),
    route({
      method: 'put',
      path: '/v1/webhooks/:id',
      tag,
      access: 'write',
      about,
      summary: 'Change a webhook',
      description: 'A field that is left out stays as it is; null takes a list away. The URL stays the same.',
      params,
      body: z.object({ name: webhookNameSchema.optional(), transform: transformSchema.optional(), ...listFields }),
      data: webhookSchema,
      errors: ['not_found', 'transform_invalid'],
      async handle({ params: { id }, body: { name, transform: given, ...lists }, origin }) {
        const before = await existingWebhook(webhooks, id);
        const transform = given ?? before.transform;
        if (transform !== before.transform) await transforms.check(transform);
        const webhook: Webhook = {
          ...before,
          name: name ?? before.name,
          transform,
          version: transform === before.transform ? before.version : newId(),
          ...listsOf(lists, before),
          updatedAt: Date.now(),
        };
        await webhooks.save(webhook);
        return { data: present(webhook, origin) };
      },
    }),
    route({
      method: 'delete',
      path: '/v1/webhooks/:id',
      tag,
      access: 'write',
      about,
      summary: 'Delete a webhook',
      description: 'Its URL answers 401 from then on. Its log goes with it; its events stay.',
      params,
      errors: ['not_found'],
      async handle({ params: { id } }) {
        await webhooks.remove(await existingWebhook(webhooks, id));
        await webhookLog.remove(id);
        return {};
      },
    }),
  ];
}
