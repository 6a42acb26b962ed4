/** `/v1/webhooks`: creates, lists, updates and deletes webhooks. */

import { z } from 'zod';
import { invalidField, ServiceError } from '../../errors.ts';
import { newSecret } from '../../model/auth/secret.ts';
import { BRANCHES, refOfOwner } from '../../model/environment.ts';
import { newId } from '../../model/ids.ts';
import { presetOf } from '../../providers/catalog.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import type { ApiParts } from '../parts.ts';
import { existingWebhook } from '../receive/existing-webhook.ts';
import type { LargeBodies } from '../receive/large-bodies.ts';
import { namePosition, pageQuery, sortedReply } from '../rest/lists.ts';
import { ownerInBody, ownerOfWebhook, visible } from '../rest/owners.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { listFields, listsOf } from '../views/list-fields.ts';
import { checkOwner, ownerSchema } from '../views/owner.ts';
import { presentWebhook, transformSchema, visibleWith, webhookNameSchema, webhookSchema } from '../views/webhook.ts';
import { type HandlingInput, handlingFields, handlingOf } from '../views/webhook-input.ts';
import { authorOf, ifVersionSchema, messageSchema, requireVersion } from '../views/webhook-version.ts';

const DEFAULT_TRANSFORM = `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: "webhook/received",
    data: { body: evt, query: queryParams },
  };
}
`;

export function webhookRoutes({
  dev,
  publicUrl,
  environments,
  webhooks,
  webhookLog,
  webhookIssues,
  webhookReconciliations,
  webhookTraffic,
  transforms,
  largeBodies,
  timerChecks,
}: ApiParts): Route[] {
  const routes = routesOf({ tag: 'Webhooks', scope: 'owner', owner: ownerOfWebhook(webhooks) });
  /** A key is sent only to its provider. @throws ServiceError dev_mode_only */
  const rejectOtherApi = (reconciliation: { api_url?: string | undefined } | null | undefined) => {
    if (dev || reconciliation?.api_url === undefined) return;
    throw new ServiceError('dev_mode_only', { detail: 'field "reconciliation.api_url"' });
  };
  /** Checks the events that wait in the order of the webhook against its current options. */
  const checkOrder = async ({ id, env }: Webhook) => {
    const all = env === BRANCHES ? (await environments.all()).filter(({ kind }) => kind === 'branch') : [{ name: env }];
    for (const { name } of all) await timerChecks.checkNow(name, [id]);
  };
  const present = (webhook: Webhook, origin: string) => presentWebhook(webhook, publicUrl ?? origin, Date.now());

  return [
    routes.post('/v1/webhooks', {
      owner: ownerInBody,
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      body: z.object({
        name: webhookNameSchema,
        environment: ownerSchema,
        transform: transformSchema
          .optional()
          .describe("Default: the provider's transform, or one that makes the event `webhook/received`"),
        ...handlingFields,
        ...listFields,
        message: messageSchema,
      }),
      status: 201,
      data: webhookSchema,
      errors: ['input_invalid', 'transform_invalid', 'environment_unknown', 'environment_archived', 'dev_mode_only'],
      async handle({ body: { name, environment, transform: given, message, ...input }, principal, origin }) {
        rejectOtherApi(input.reconciliation);
        await checkOwner(environment, environments);
        const id = newId();
        checkLargeBodies(input, largeBodies);
        const handling = handlingOf(id, input, {}, webhooks);
        const transform = given ?? defaultTransform(handling.provider);
        await transforms.check(transform);
        const now = Date.now();
        const webhook: Webhook = {
          id,
          ...handling,
          key: newSecret(),
          env: environment,
          name,
          transform,
          version: 1,
          ...listsOf(input),
          createdAt: now,
          updatedAt: now,
        };
        await webhooks.create(webhook, { author: authorOf(principal), message });
        if (webhook.reconciliation) await webhookReconciliations.change(id, { dueAt: 0 });
        return { data: present(webhook, origin) };
      },
    }),
    routes.get('/v1/webhooks', {
      owner: 'each',
      operationId: 'listWebhooks',
      summary: 'List webhooks',
      description: 'In order of creation.',
      query: z.object(pageQuery(namePosition)),
      data: z.array(webhookSchema),
      async handle({ query, accessTo, origin }) {
        const item = (webhook: Webhook) => visibleWith(accessTo(refOfOwner(webhook.env)), present(webhook, origin));
        return sortedReply(visible(await webhooks.all(), accessTo), 'id', query, item);
      },
    }),
    routes.get('/v1/webhooks/:id', {
      operationId: 'getWebhook',
      summary: 'Get a webhook',
      data: webhookSchema,
      async handle({ params: { id }, principal, origin }) {
        return { data: visibleWith(principal.access, present(await existingWebhook(webhooks, id), origin)) };
      },
    }),
    routes.patch('/v1/webhooks/:id', {
      formerMethod: 'put',
      operationId: 'updateWebhook',
      summary: 'Update a webhook',
      description:
        'Omitted fields stay unchanged; null removes a list. The URL stays the same. A change of how requests are handled makes a new version.',
      body: z.object({
        name: webhookNameSchema.optional(),
        transform: transformSchema.optional(),
        ...handlingFields,
        ...listFields,
        message: messageSchema,
        if_version: ifVersionSchema,
      }),
      data: webhookSchema,
      errors: ['not_found', 'input_invalid', 'transform_invalid', 'version_conflict', 'dev_mode_only'],
      async handle({ params: { id }, body: { name, transform, message, if_version, ...input }, principal, origin }) {
        rejectOtherApi(input.reconciliation);
        const { transform: saved, reconciliation: compared } = await existingWebhook(webhooks, id);
        checkLargeBodies(input, largeBodies);
        if (transform !== undefined && transform !== saved) await transforms.check(transform);
        const webhook = await webhooks.change(
          id,
          (before) => {
            requireVersion(before, if_version);
            return {
              ...before,
              ...handlingOf(id, input, before, webhooks),
              name: name ?? before.name,
              transform: transform ?? before.transform,
              ...listsOf(input, before),
              updatedAt: Date.now(),
            };
          },
          { author: authorOf(principal), message },
        );
        if (input.order !== undefined) await checkOrder(webhook);
        // A new list says nothing about earlier comparisons.
        if (compared && compared.since !== webhook.reconciliation?.since) await webhookReconciliations.remove(id);
        if (input.reconciliation) await webhookReconciliations.change(id, { dueAt: 0 });
        return { data: present(webhook, origin) };
      },
    }),
    routes.delete('/v1/webhooks/:id', {
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook',
      description:
        'From then on, requests to its URL are rejected with 401. Its versions, request log and issues are deleted; its events stay.',
      async handle({ params: { id } }) {
        const webhook = await existingWebhook(webhooks, id);
        await webhooks.remove(webhook);
        if (webhook.order) await checkOrder(webhook);
        const kept = [webhookLog, webhookIssues, webhookTraffic, webhookReconciliations];
        await Promise.all(kept.map((part) => part.remove(id)));
        return {};
      },
    }),
  ];
}

function defaultTransform(provider: string | undefined): string {
  return (provider === undefined ? undefined : presetOf(provider)?.transform) ?? DEFAULT_TRANSFORM;
}

/** @throws ServiceError input_invalid */
function checkLargeBodies(
  { large_bodies }: { large_bodies?: HandlingInput['large_bodies'] },
  { canKeep }: Pick<LargeBodies, 'canKeep'>,
): void {
  if (!large_bodies || canKeep) return;
  throw invalidField(
    'large_bodies',
    'this installation has no place to keep them; set DATABASE_URL to a Postgres, or LARGE_BODIES_BUCKET_URL to a bucket first',
  );
}
