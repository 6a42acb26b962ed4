/** `/v1/webhooks/stats`: how each webhook's requests go. */
import { z } from 'zod';
import type { WebhookLog } from '../../store/webhook-log.ts';
import type { Webhooks } from '../../store/webhooks.ts';
import { type Route, route } from '../route.ts';
import { time } from '../views/time.ts';

export const webhookStatsSchema = z
  .object({
    webhook_id: z.string(),
    last_request_at: z.iso.datetime().nullable().meta({ description: 'null: the log holds none' }),
    requests: z.int(),
    rejected: z.int().meta({ description: 'That the provider was answered an error to' }),
  })
  .meta({ id: 'WebhookStats' });

export function webhookStatsRoutes({ webhooks, webhookLog }: { webhooks: Webhooks; webhookLog: WebhookLog }): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/webhooks/stats',
      tag: 'Webhooks',
      access: 'read',
      about: 'account',
      summary: 'Count the requests of each webhook',
      description: 'Of those that its log keeps: the last ones, of 7 days at most.',
      data: z.array(webhookStatsSchema),
      errors: [],
      async handle() {
        const ids = (await webhooks.all()).map(({ id }) => id);
        const counted = await webhookLog.stats(ids, Date.now());
        return {
          data: counted.map(({ lastAt, requests, rejected }, i) => ({
            webhook_id: ids[i],
            last_request_at: time(lastAt),
            requests,
            rejected,
          })),
        };
      },
    }),
  ];
}
