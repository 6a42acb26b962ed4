/** `/v1/webhooks/:id/versions`: lists, compares and restores the versions of a webhook. */

import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { describe } from '../../model/values/json.ts';
import { versionOf, type Webhook } from '../../store/webhooks/webhook.ts';
import type { ApiParts } from '../parts.ts';
import { existingWebhook } from '../receive/existing-webhook.ts';
import { listReply, pageQuery } from '../rest/lists.ts';
import { ownerOfWebhook } from '../rest/owners.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { presentWebhook, webhookSchema } from '../views/webhook.ts';
import { type HandlingInput, handlingOf } from '../views/webhook-input.ts';
import {
  authorOf,
  ifVersionSchema,
  messageSchema,
  presentDiff,
  presentSnapshot,
  presentVersion,
  requireVersion,
  versionDetailsSchema,
  versionDiffSchema,
  versionSchema,
} from '../views/webhook-version.ts';

const NUMBER = /^[1-9]\d{0,8}$/;
const number = z.coerce.number().int().min(1);
const versionParams = z.object({ id: z.string(), version: z.string().describe('Number of the version') });

export function webhookVersionRoutes(deps: ApiParts): Route[] {
  const { publicUrl, webhooks, webhookVersions, transforms } = deps;
  const routes = routesOf({ tag: 'Webhooks', scope: 'owner', owner: ownerOfWebhook(webhooks) });

  /** @param version a number as text; any other text names no version */
  async function existing(webhook: Webhook, version: string | number) {
    const found = NUMBER.test(String(version)) && (await webhookVersions.read(webhook, Number(version)));
    if (found) return found;
    throw new ServiceError('not_found', {
      detail: `the webhook has no version ${describe(version)}; the last 100 versions are kept, and 2 MiB of them`,
    });
  }

  return [
    routes.get('/v1/webhooks/:id/versions', {
      operationId: 'listWebhookVersions',
      summary: 'List versions of a webhook',
      description:
        'Newest first. Each change of how requests are handled makes a version. The last 100 versions of a webhook are kept, at most 2 MiB.',
      query: z.object(pageQuery(number)),
      data: z.array(versionSchema),
      async handle({ params: { id }, query: { limit, cursor } }) {
        const webhook = await existingWebhook(webhooks, id);
        const { versions, next } = await webhookVersions.list(webhook, { limit, before: cursor });
        return listReply(versions, {
          present: (version) => presentVersion(version, versionOf(webhook)),
          positionOf: ({ version }) => version,
          next,
        });
      },
    }),
    routes.get('/v1/webhooks/:id/versions/:version', {
      operationId: 'getWebhookVersion',
      summary: 'Get a version of a webhook',
      params: versionParams,
      data: versionDetailsSchema,
      async handle({ params: { id, version: wanted } }) {
        const webhook = await existingWebhook(webhooks, id);
        const { version, snapshot } = await existing(webhook, wanted);
        return { data: { ...presentVersion(version, versionOf(webhook)), snapshot: presentSnapshot(snapshot) } };
      },
    }),
    routes.get('/v1/webhooks/:id/versions/:version/diff', {
      operationId: 'compareWebhookVersions',
      summary: 'Compare two versions of a webhook',
      description: 'Returns the changes from the version `with` to this version.',
      params: versionParams,
      query: z.object({
        with: number.optional().describe('Number of the other version. Default: the previous version'),
      }),
      data: versionDiffSchema,
      async handle({ params: { id, version }, query: { with: other = Number(version) - 1 } }) {
        const webhook = await existingWebhook(webhooks, id);
        const [before, after] = [await existing(webhook, other), await existing(webhook, version)];
        return {
          data: presentDiff(
            { number: other, snapshot: before.snapshot },
            { number: Number(version), snapshot: after.snapshot },
          ),
        };
      },
    }),
    routes.post('/v1/webhooks/:id/versions/:version/restore', {
      operationId: 'restoreWebhookVersion',
      summary: 'Restore a version of a webhook',
      description:
        'Makes a new version with the content of this version, unless the webhook already has this content. The content is validated as in an update. ' +
        'Secrets stay unchanged unless the provider changes: then the webhook has no secrets until you set them.',
      params: versionParams,
      body: z.object({ message: messageSchema, if_version: ifVersionSchema }),
      data: webhookSchema,
      errors: ['not_found', 'input_invalid', 'transform_invalid', 'version_conflict'],
      async handle({ params: { id, version }, body: { message, if_version }, principal, origin }) {
        const { snapshot } = await existing(await existingWebhook(webhooks, id), version);
        await transforms.check(snapshot.transform);
        const webhook = await webhooks.change(
          id,
          (before) => {
            requireVersion(before, if_version);
            const handling = handlingOf(id, presentSnapshot(snapshot) as HandlingInput, before, webhooks);
            return { ...before, ...handling, transform: snapshot.transform, updatedAt: Date.now() };
          },
          { author: authorOf(principal), message, restoredFrom: Number(version) },
        );
        return { data: presentWebhook(webhook, publicUrl ?? origin, Date.now()) };
      },
    }),
  ];
}
