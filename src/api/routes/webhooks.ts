/** `/v1/webhooks`: creates, lists, updates and deletes webhooks. */
import { z } from 'zod';
import type { History } from '../../history/history.ts';
import { newSecret } from '../../model/auth/secret.ts';
import { newId } from '../../model/ids.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { Webhook, Webhooks } from '../../store/webhooks/webhooks.ts';
import type { Transforms } from '../../transforms/transforms.ts';
import { namePosition, pageOf, pageQuery } from '../rest/list-query.ts';
import { listReply } from '../rest/list-response.ts';
import { type Route, route } from '../rest/route.ts';
import { listFields, listsOf } from '../views/list-fields.ts';
import { checkOwner, ownerSchema } from '../views/owner.ts';
import {
  existingWebhook,
  presentWebhook,
  transformSchema,
  visibleTo,
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
  publicUrl: string | undefined;
  environments: Environments;
  webhooks: Webhooks;
  webhookLog: History['webhookLog'];
  transforms: Transforms;
}

export function webhookRoutes({
  publicUrl,
  environments,
  webhooks,
  webhookLog,
  transforms,
}: WebhookRouteDeps): Route[] {
  const tag = 'Webhooks';
  const scope = 'installation';
  const present = (webhook: Webhook, origin: string) => presentWebhook(webhook, publicUrl ?? origin, Date.now());

  return [
    route({
      method: 'post',
      path: '/v1/webhooks',
      tag,
      access: 'write',
      scope,
      summary: 'Create a webhook',
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
      scope,
      summary: 'List webhooks',
      description: 'In order of creation.',
      query: z.object(pageQuery(namePosition)),
      data: z.array(webhookSchema),
      errors: [],
      async handle({ query, principal, origin }) {
        const { page, next } = pageOf(await webhooks.all(), ({ id }) => id, query);
        const item = (webhook: Webhook) => visibleTo(principal, present(webhook, origin));
        return listReply(page, { present: item, positionOf: ({ id }) => id, next });
      },
    }),
    route({
      method: 'get',
      path: '/v1/webhooks/:id',
      tag,
      access: 'read',
      scope,
      summary: 'Get a webhook',
      params,
      data: webhookSchema,
      errors: ['not_found'],
      async handle({ params: { id }, principal, origin }) {
        return { data: visibleTo(principal, present(await existingWebhook(webhooks, id), origin)) };
      },
    }),
    route({
      method: 'put',
      path: '/v1/webhooks/:id',
      tag,
      access: 'write',
      scope,
      summary: 'Update a webhook',
      description: 'Omitted fields stay unchanged; null removes a list. The URL stays the same.',
      params,
      body: z.object({ name: webhookNameSchema.optional(), transform: transformSchema.optional(), ...listFields }),
      data: webhookSchema,
      errors: ['not_found', 'transform_invalid'],
      async handle({ params: { id }, body: { name, transform: newTransform, ...lists }, origin }) {
        const before = await existingWebhook(webhooks, id);
        const transform = newTransform ?? before.transform;
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
      scope,
      summary: 'Delete a webhook',
      description:
        'Requests to its URL are rejected with 401 from then on. Its request log is deleted; its events stay.',
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
