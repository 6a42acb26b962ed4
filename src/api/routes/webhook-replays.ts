/** `/v1/webhooks/:id/replays`: replays logged requests of a webhook through its transform, or through a draft. */
import { z } from 'zod';
import { BACKPRESSURE_ERRORS, ServiceError } from '../../errors.ts';
import type { History } from '../../history/history.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import { ID_PATTERN, newId } from '../../model/ids.ts';
import { inUse } from '../../store/webhooks/webhook-directory.ts';
import { LOG_OUTCOMES } from '../../store/webhooks/webhook-log.ts';
import { REPLAY_STATUSES, type WebhookReplay, type WebhookReplays } from '../../store/webhooks/webhook-replays.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import type { ProcessWebhookDeps } from '../receive/process-webhook.ts';
import { dryRun } from '../replays/dry-run.ts';
import { countRequests, draftTransform } from '../replays/logged-requests.ts';
import { cursorQuery, namePosition, pageOf } from '../rest/list-query.ts';
import { listReply } from '../rest/list-response.ts';
import { type Route, route } from '../rest/route.ts';
import { existingWebhook, transformSchema } from '../views/webhook.ts';
import {
  dryRunSchema,
  presentComparison,
  presentReplay,
  presentResult,
  replayResultSchema,
  replaySchema,
} from '../views/webhook-replay.ts';

const REQUEST_IDS_MAX = 1_000;
const RATE_MAX = 100;
const DEFAULT_RATE = 10;

const params = z.object({ id: z.string() });
const replayParams = params.extend({ replay: z.string() });
const timestamp = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const bodySchema = z.object({
  from: timestamp.optional().meta({ description: 'Receipt of the first request, inclusive. Absent: the oldest one' }),
  to: timestamp.optional().meta({ description: 'Exclusive. Absent: now' }),
  outcomes: z
    .array(z.enum(LOG_OUTCOMES))
    .min(1)
    .max(LOG_OUTCOMES.length)
    .optional()
    .meta({ description: 'Absent: all' }),
  request_ids: z
    .array(z.string().regex(ID_PATTERN))
    .min(1)
    .max(REQUEST_IDS_MAX)
    .optional()
    .meta({ description: 'These requests alone, whatever their time and outcome' }),
  draft: transformSchema.optional().meta({
    description: "Runs instead of the webhook's transform, and is not saved. Absent: the webhook's transform",
  }),
  dry_run: z.boolean().default(true),
  rate: z.int().min(1).max(RATE_MAX).default(DEFAULT_RATE).meta({ description: 'Requests per second' }),
});

export interface WebhookReplayRouteDeps extends ProcessWebhookDeps {
  webhooks: Webhooks;
  webhookLog: History['webhookLog'];
  webhookReplays: WebhookReplays;
  backpressure: Backpressure;
}

export function webhookReplayRoutes(deps: WebhookReplayRouteDeps): Route[] {
  const { webhooks, webhookLog, webhookReplays, backpressure, transforms } = deps;
  const common = { tag: 'Webhooks', scope: 'installation' } as const;

  async function existing(webhookId: string, id: string): Promise<WebhookReplay> {
    await existingWebhook(webhooks, webhookId);
    const replay = await webhookReplays.read(id);
    if (replay?.webhookId === webhookId) return replay;
    throw new ServiceError('not_found', { detail: `this webhook has no replay with the ID "${id}"` });
  }

  return [
    route({
      ...common,
      method: 'post',
      path: '/v1/webhooks/:id/replays',
      access: 'write',
      summary: 'Replay logged requests of a webhook',
      description:
        'A dry run counts the requests, runs the newest 50 at most, and shows what they make: with a draft, beside what the present transform makes. ' +
        'It ingests nothing. Otherwise the requests are processed in the background as if they were received now, the oldest first. ' +
        'Re-runs of requests are not replayed.',
      params,
      body: bodySchema,
      data: z.object({
        replay: replaySchema.nullable().meta({ description: 'null: a dry run' }),
        dry_run: dryRunSchema.nullable().meta({ description: 'null: no dry run' }),
      }),
      errors: ['not_found', 'transform_invalid', 'quota_exceeded', 'archive_unavailable', ...BACKPRESSURE_ERRORS],
      async handle({ params: { id }, body }) {
        const webhook = inUse(await existingWebhook(webhooks, id));
        const now = Date.now();
        const { from, draft, rate, outcomes } = body;
        const to = Math.min(body.to ?? now, now);
        if (from !== undefined && from >= to) throw invalid('from', 'not before "to" and now');
        const requestIds = body.request_ids && [...new Set(body.request_ids)].sort();
        const selection = { webhookId: id, from, to, outcomes, requestIds };
        if (draft !== undefined) await transforms.check(draft);
        if (!body.dry_run) backpressure.admit();
        const total = await countRequests(webhookLog, selection);
        if (body.dry_run) {
          const code = draft === undefined ? undefined : draftTransform(draft);
          const { sample, stoppedEarly } = await dryRun(selection, { webhook, draft: code }, deps);
          const shown = { total: total.count, total_is_exact: total.isExact, sample: sample.map(presentComparison) };
          return { data: { replay: null, dry_run: { ...shown, stopped_early: stoppedEarly ?? null } } };
        }
        const spec = { id: newId(now), ...selection, hasDraft: draft !== undefined, rate, total, createdAt: now };
        return { data: { replay: presentReplay(await webhookReplays.add(spec, draft)), dry_run: null } };
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/v1/webhooks/:id/replays',
      access: 'read',
      summary: 'List replays of a webhook',
      description: 'Newest first. One that has ended is kept for 7 days, and 200 of all webhooks at most.',
      params,
      data: z.array(replaySchema.omit({ request_ids: true })),
      errors: ['not_found'],
      async handle({ params: { id } }) {
        await existingWebhook(webhooks, id);
        const present = (replay: WebhookReplay) => {
          const { request_ids: _, ...shown } = presentReplay(replay);
          return shown;
        };
        return listReply(await webhookReplays.all(id), { present });
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/v1/webhooks/:id/replays/:replay',
      access: 'read',
      summary: 'Get a replay of a webhook',
      params: replayParams,
      data: replaySchema,
      errors: ['not_found'],
      async handle({ params: { id, replay } }) {
        return { data: presentReplay(await existing(id, replay)) };
      },
    }),
    route({
      ...common,
      method: 'get',
      path: '/v1/webhooks/:id/replays/:replay/results',
      access: 'read',
      summary: 'List results of a replay',
      description:
        'Oldest request first. The last 1,000 results of each status are kept; the counts of the replay are exact.',
      params: replayParams,
      query: z.object({ status: z.enum(REPLAY_STATUSES).default('failed'), ...cursorQuery(namePosition) }),
      data: z.array(replayResultSchema),
      errors: ['not_found'],
      async handle({ params: { id, replay }, query: { status, cursor } }) {
        await existing(id, replay);
        const { page } = pageOf(await webhookReplays.results(replay, status), ({ requestId }) => requestId, { cursor });
        return listReply(page, { present: presentResult, positionOf: ({ requestId }) => requestId });
      },
    }),
    ...(
      [
        ['pause', 'running', 'paused', 'Pause a replay of a webhook'],
        ['resume', 'paused', 'running', 'Resume a paused replay of a webhook'],
      ] as const
    ).map(([action, from, to, summary]) =>
      route({
        ...common,
        method: 'post',
        path: `/v1/webhooks/:id/replays/:replay/${action}`,
        access: 'write',
        summary,
        params: replayParams,
        status: 200,
        data: replaySchema,
        errors: ['not_found'],
        async handle({ params: { id, replay } }) {
          await existing(id, replay);
          await webhookReplays.change(replay, from, to);
          return { data: presentReplay(await existing(id, replay)) };
        },
      }),
    ),
    route({
      ...common,
      method: 'post',
      path: '/v1/webhooks/:id/replays/:replay/cancel',
      access: 'write',
      summary: 'Cancel a replay of a webhook',
      description: 'Events that it made stay.',
      params: replayParams,
      status: 200,
      data: replaySchema,
      errors: ['not_found'],
      async handle({ params: { id, replay } }) {
        await existing(id, replay);
        for (const from of ['running', 'paused'] as const) {
          if (await webhookReplays.change(replay, from, 'cancelled')) break;
        }
        return { data: presentReplay(await existing(id, replay)) };
      },
    }),
  ];
}

function invalid(field: string, detail: string): ServiceError {
  return new ServiceError('input_invalid', { detail: `field "${field}": ${detail}`, facts: { field } });
}
