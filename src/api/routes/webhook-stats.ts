/** `/v1/webhooks/stats`: request counts of each webhook. */
import { z } from 'zod';
import type { LogStats } from '../../model/webhooks/request-log.ts';
import { apiObject, time, timeOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { listReply, longPageQuery, namePosition, pageOf } from '../rest/lists.ts';
import { visible } from '../rest/owners.ts';
import { type Route, routesOf } from '../rest/route.ts';

export const webhookStatsSchema = apiObject('WebhookStats', {
  webhook_id: z.string(),
  last_request_at: timeOrNull.describe('null: the request log is empty'),
  requests: z.int(),
  rejected: z.int().describe('Requests that were rejected'),
  filtered: z.int().describe('Requests that the filter or the list of event names dropped'),
  unverified: z.int().describe('Requests that failed verification; they were rejected'),
});

const routes = routesOf({ tag: 'Webhooks', scope: 'owner', owner: 'each' });

export function webhookStatsRoutes({ webhooks, webhookLog }: ApiParts): Route[] {
  return [
    routes.get('/v1/webhooks/stats', {
      operationId: 'listWebhookStats',
      summary: 'Get request counts by webhook',
      description:
        'Counts the requests in the request log: the latest requests of at most 7 days; with an archive, all requests of `RETENTION_DAYS`.',
      query: z.object(longPageQuery(namePosition)),
      data: z.array(webhookStatsSchema),
      async handle({ query, accessTo }) {
        const { page, next } = pageOf(visible(await webhooks.all(), accessTo), ({ id }) => id, query);
        const ids = page.map(({ id }) => id);
        const { stats, stoppedEarly } = await webhookLog.stats(ids, Date.now());
        const counted = stats.map((ofWebhook, i) => ({ ...ofWebhook, id: ids[i] as string }));
        return listReply(counted, { present, positionOf: ({ id }) => id, next, stoppedEarly });
      },
    }),
  ];
}

function present({ id, lastAt, requests, rejected, filtered, unverified }: LogStats & { id: string }) {
  return { webhook_id: id, last_request_at: time(lastAt), requests, rejected, filtered, unverified };
}
