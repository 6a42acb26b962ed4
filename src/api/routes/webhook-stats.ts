/** `/v1/webhooks/stats`: how each webhook's requests go. */
import { z } from 'zod';
import type { LogStats, WebhookLog } from '../../store/webhooks/webhook-log.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import { listReply } from '../rest/list-response.ts';
import { cursorQuery, inNames, pageOf } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';
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
      query: z.object(cursorQuery(inNames)),
      data: z.array(webhookStatsSchema),
      errors: [],
      async handle({ query }) {
        const { page } = pageOf(await webhooks.all(), ({ id }) => id, query);
        const ids = page.map(({ id }) => id);
        const counted = (await webhookLog.stats(ids, Date.now())).map((one, i) => ({ ...one, id: ids[i] as string }));
        return listReply(counted, { present, positionOf: ({ id }) => id });
      },
    }),
  ];
}

function present({ id, lastAt, requests, rejected }: LogStats & { id: string }) {
  return { webhook_id: id, last_request_at: time(lastAt), requests, rejected };
}
