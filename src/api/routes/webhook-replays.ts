/** `/v1/webhooks/:id/replays`: replays logged requests of a webhook through its filter and transform, or through drafts of them. */

import { z } from 'zod';
import { BACKPRESSURE_ERRORS, ServiceError } from '../../errors.ts';
import { INSTALLATION } from '../../model/bulk/bulk-operation.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { LOG_OUTCOMES } from '../../model/webhooks/request-log.ts';
import {
  WEBHOOK_REPLAY_OUTCOMES,
  type WebhookReplay,
  type WebhookReplayResult,
} from '../../store/webhooks/webhook-replay.ts';
import { listUpTo, textUpTo, timestampSchema } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { existingWebhook } from '../receive/existing-webhook.ts';
import { startReplay } from '../replays/start-replay.ts';
import { listReply, longPageQuery, namePosition, pageOf, pageOfNewest } from '../rest/lists.ts';
import { ownerOfWebhook } from '../rest/owners.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { expressionSchema } from '../views/expression.ts';
import { transformSchema } from '../views/webhook.ts';
import {
  presentStarted,
  presentWebhookReplay,
  presentWebhookReplayResult,
  replayRateSchema,
  startedReplaySchema,
  webhookReplayResultSchema,
  webhookReplaySchema,
} from '../views/webhook-replay.ts';
import { operationRoutes } from './bulk-operation.ts';

const REQUEST_IDS_MAX = 1_000;
const REASONS_MAX = 20;

const params = z.object({ id: z.string() });

const bodySchema = z.object({
  from: timestampSchema.optional().describe('Receipt of the first request, inclusive. Default: the oldest request'),
  to: timestampSchema.optional().describe('Exclusive. Default: now'),
  outcomes: listUpTo(LOG_OUTCOMES.length, z.enum(LOG_OUTCOMES)).optional().describe('Absent: all'),
  reasons: listUpTo(REASONS_MAX, textUpTo(100))
    .optional()
    .describe('Only requests with these reasons, such as `transform_failed`. Default: all'),
  request_ids: listUpTo(REQUEST_IDS_MAX, z.string().regex(ID_PATTERN))
    .optional()
    .describe('Only these requests, whatever their time and outcome'),
  draft: transformSchema
    .optional()
    .describe(
      "A draft that runs instead of the webhook's transform and is not saved. Default: the webhook's transform",
    ),
  draft_filter: expressionSchema
    .nullish()
    .describe(
      "A draft that runs instead of the webhook's filter and is not saved; null: no filter. Default: the webhook's filter",
    ),
  dry_run: z.boolean().default(true),
  rate: replayRateSchema,
});

export function webhookReplayRoutes(deps: ApiParts): Route[] {
  const { webhooks, webhookReplays } = deps;
  const routes = routesOf({ tag: 'Webhooks', scope: 'owner', owner: ownerOfWebhook(webhooks) });

  async function existing(webhookId: string, id: string): Promise<WebhookReplay> {
    await existingWebhook(webhooks, webhookId);
    const replay = await webhookReplays.read(INSTALLATION, id);
    if (replay?.definition.webhookId === webhookId) return replay;
    throw new ServiceError('not_found', { detail: `this webhook has no replay with the ID "${id}"` });
  }

  const of = operationRoutes({
    routes,
    path: '/v1/webhooks/:id/replays/:replay',
    params: params.extend({ replay: z.string() }),
    name: 'WebhookReplay',
    noun: 'replay of a webhook',
    plural: 'replays of a webhook',
    data: webhookReplaySchema,
    present: presentWebhookReplay,
    store: webhookReplays,
    read: (_, { id, replay }) => existing(id, replay),
  });

  return [
    routes.post('/v1/webhooks/:id/replays', {
      operationId: 'createWebhookReplay',
      summary: 'Replay logged requests of a webhook',
      description:
        'A dry run counts the requests, processes the newest (at most 50), and shows the results; with a draft, next to those of the webhook. It ingests nothing. ' +
        'Without `from`, `to` and `request_ids`, it processes the last 50 requests whatever their time. ' +
        'Otherwise the requests are processed in the background as if they were received now, oldest first. ' +
        'Re-runs of requests are not replayed.',
      body: bodySchema,
      data: startedReplaySchema,
      errors: ['not_found', 'transform_invalid', 'quota_exceeded', 'archive_unavailable', ...BACKPRESSURE_ERRORS],
      async handle({ params: { id }, body, principal }) {
        const data = presentStarted(await startReplay(id, body, principal, deps));
        return { data, ...(body.dry_run && { audited: false as const }) };
      },
    }),
    of.list({
      description: 'Newest first. Replays that have ended are kept for 7 days; at most 200 for all webhooks.',
      params,
      query: z.object(longPageQuery(namePosition)),
      data: webhookReplaySchema.omit({ request_ids: true }),
      present(replay) {
        const { request_ids: _, ...shown } = presentWebhookReplay(replay);
        return shown;
      },
      async find({ params: { id }, query }) {
        await existingWebhook(webhooks, id);
        const all = (await webhookReplays.list(INSTALLATION)).filter(({ definition }) => definition.webhookId === id);
        return pageOfNewest(all, (replay) => replay.id, query);
      },
    }),
    of.get(),
    routes.get('/v1/webhooks/:id/replays/:replay/results', {
      operationId: 'listWebhookReplayResults',
      summary: 'List results of a replay',
      description:
        'Oldest request first. Only the last 1,000 results of each status are kept; the counts of the replay are exact.',
      query: z.object({ status: z.enum(WEBHOOK_REPLAY_OUTCOMES).default('failed'), ...longPageQuery(namePosition) }),
      data: z.array(webhookReplayResultSchema),
      async handle({ params: { id, replay }, query: { status, ...at } }) {
        const results = await webhookReplays.results<WebhookReplayResult>(await existing(id, replay), { list: status });
        const { page, next } = pageOf(results, ({ requestId }) => requestId, at);
        return listReply(page, { present: presentWebhookReplayResult, positionOf: ({ requestId }) => requestId, next });
      },
    }),
    ...of.changes({ cancel: 'Events that the replay made stay.' }),
  ];
}
