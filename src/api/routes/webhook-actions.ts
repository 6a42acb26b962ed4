/** `/v1/webhooks/:id/pause`, `/resume`, `/rotate`: pauses or resumes a webhook, or changes its URL. */
import { z } from 'zod';
import { newSecret } from '../../model/auth/secret.ts';
import type { Webhook } from '../../store/webhooks/webhook.ts';
import { keepOldSeconds } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { ownerOfWebhook } from '../rest/owners.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { presentWebhook, webhookSchema } from '../views/webhook.ts';

export function webhookActionRoutes({ publicUrl, webhooks }: ApiParts): Route[] {
  const routes = routesOf({ tag: 'Webhooks', scope: 'owner', owner: ownerOfWebhook(webhooks) });
  const response = { data: webhookSchema, errors: ['not_found' as const, 'version_conflict' as const] };
  const present = (webhook: Webhook, origin: string) => ({
    data: presentWebhook(webhook, publicUrl ?? origin, Date.now()),
  });

  return [
    routes.post('/v1/webhooks/:id/pause', {
      ...response,
      operationId: 'pauseWebhook',
      summary: 'Pause a webhook',
      description: 'Requests are rejected with 503, so that providers retry, and are kept in the request log.',
      async handle({ params: { id }, origin }) {
        const now = Date.now();
        const pause = (before: Webhook) => ({ ...before, pausedAt: before.pausedAt ?? now });
        return present(await webhooks.change(id, pause), origin);
      },
    }),
    routes.post('/v1/webhooks/:id/resume', {
      ...response,
      operationId: 'resumeWebhook',
      summary: 'Resume a paused webhook',
      async handle({ params: { id }, origin }) {
        const resume = ({ pausedAt: _, ...webhook }: Webhook) => webhook;
        return present(await webhooks.change(id, resume), origin);
      },
    }),
    routes.post('/v1/webhooks/:id/rotate', {
      ...response,
      operationId: 'rotateWebhookUrl',
      summary: 'Rotate the URL of a webhook',
      description: 'Previous URLs stay valid for the given time.',
      body: z.object({
        keep_old_seconds: keepOldSeconds.describe('How long previous URLs stay valid; 0: they become invalid at once'),
      }),
      async handle({ params: { id }, body: { keep_old_seconds }, origin }) {
        const now = Date.now();
        return present(await webhooks.rotate(id, newSecret(), now + keep_old_seconds * 1_000, now), origin);
      },
    }),
  ];
}
