/** `/v1/webhooks/:id/pause`, `/resume`, `/rotate`: whether and where a webhook takes requests. */
import { z } from 'zod';
import { newSecret } from '../../model/auth/secret.ts';
import type { Webhook, Webhooks } from '../../store/webhooks/webhooks.ts';
import { type Route, route } from '../rest/route.ts';
import { existingWebhook, presentWebhook, webhookSchema } from '../views/webhook.ts';

const DAY_SECONDS = 86_400;

const params = z.object({ id: z.string() });

export interface WebhookActionDeps {
  config: { publicUrl: string | undefined };
  webhooks: Webhooks;
}

export function webhookActionRoutes({ config, webhooks }: WebhookActionDeps): Route[] {
  const common = { method: 'post', tag: 'Webhooks', access: 'write', about: 'account', params } as const;
  const answer = { data: webhookSchema, errors: ['not_found' as const] };
  const present = (webhook: Webhook, origin: string) => ({
    data: presentWebhook(webhook, config.publicUrl ?? origin, Date.now()),
  });

  return [
    route({
      ...common,
      ...answer,
      path: '/v1/webhooks/:id/pause',
      summary: 'Pause a webhook',
      description: 'Its requests are answered 503, on which providers send again, and are kept in its log.',
      async handle({ params: { id }, origin }) {
        const before = await existingWebhook(webhooks, id);
        const webhook = { ...before, pausedAt: before.pausedAt ?? Date.now() };
        await webhooks.save(webhook);
        return present(webhook, origin);
      },
    }),
    route({
      ...common,
      ...answer,
      path: '/v1/webhooks/:id/resume',
      summary: 'Resume a paused webhook',
      async handle({ params: { id }, origin }) {
        const { pausedAt: _, ...webhook } = await existingWebhook(webhooks, id);
        await webhooks.save(webhook);
        return present(webhook, origin);
      },
    }),
    route({
      ...common,
      ...answer,
      path: '/v1/webhooks/:id/rotate',
      summary: "Change a webhook's URL",
      description: 'The present URL, and those before it, are taken for the time you choose, and no longer.',
      body: z.object({
        keep_old_seconds: z
          .int()
          .min(0)
          .max(30 * DAY_SECONDS)
          .default(DAY_SECONDS)
          .meta({ description: 'How long old URLs live on; 0: they end at once' }),
      }),
      async handle({ params: { id }, body: { keep_old_seconds }, origin }) {
        const before = await existingWebhook(webhooks, id);
        const now = Date.now();
        const webhook = await webhooks.rotate(before, newSecret(), now + keep_old_seconds * 1_000, now);
        return present(webhook, origin);
      },
    }),
  ];
}
