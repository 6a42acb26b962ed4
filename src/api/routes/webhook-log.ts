/** `/v1/webhooks/:id/requests`: the last requests of a webhook, and putting one through again. */
import { z } from 'zod';
import { NOT_NOW, ServiceError } from '../../errors.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import { eventSchema } from '../../model/events/event.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { inUse } from '../../store/webhooks/webhook-directory.ts';
import { LOG_OUTCOMES, type LoggedRequest, type WebhookLog } from '../../store/webhooks/webhook-log.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import { type ProcessWebhookDeps, reasonOf, take } from '../receive/process-webhook.ts';
import type { RequestLogWriter } from '../receive/request-log-writer.ts';
import { listReply } from '../rest/list-response.ts';
import { pageQuery } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';
import { listedRequestSchema, loggedInFullSchema, presentInFull, presentLogged } from '../views/request.ts';
import { existingWebhook } from '../views/webhook.ts';

const params = z.object({ id: z.string() });
const requestParams = params.extend({ rid: z.string() });

const rerunSchema = z
  .object({
    dry_run: z.boolean(),
    outcome: z.enum(LOG_OUTCOMES),
    reason: z.string().nullable(),
    event: eventSchema.nullable().meta({ description: 'What the transform makes of it; null: nothing' }),
    ids: z.array(z.string()).meta({ description: 'Of the event; none in a dry run' }),
    console: z.array(z.object({ level: z.string(), text: z.string() })),
    duration_ms: z.number(),
  })
  .meta({ id: 'Rerun' });

export interface WebhookLogRouteDeps extends ProcessWebhookDeps {
  webhooks: Webhooks;
  webhookLog: WebhookLog;
  recorder: RequestLogWriter;
  pressure: Backpressure;
}

export function webhookLogRoutes(deps: WebhookLogRouteDeps): Route[] {
  const { webhooks, webhookLog, recorder, pressure } = deps;
  const tag = 'Webhooks';
  const about = 'account';

  async function logged(webhookId: string, requestId: string): Promise<LoggedRequest> {
    const request = await webhookLog.read(webhookId, requestId);
    if (!request) throw new ServiceError('not_found', { detail: `no request "${requestId}" is in this webhook's log` });
    return request;
  }

  return [
    route({
      method: 'get',
      path: '/v1/webhooks/:id/requests',
      tag,
      access: 'read',
      about,
      summary: 'List the last requests of a webhook, newest first',
      description: 'Whatever became of them. A request enters the log when it has been answered.',
      params,
      query: z.object(pageQuery(z.string().regex(ID_PATTERN))),
      data: z.array(listedRequestSchema),
      errors: ['not_found'],
      async handle({ params: { id }, query: { limit, cursor } }) {
        await existingWebhook(webhooks, id);
        const page = await webhookLog.list(id, limit, cursor, Date.now());
        const next = page.length === limit ? page.at(-1)?.id : undefined;
        return listReply(page, {
          present: presentLogged,
          positionOf: ({ id }) => id,
          next,
          omittable: ['console', 'message'],
        });
      },
    }),
    route({
      method: 'get',
      path: '/v1/webhooks/:id/requests/:rid',
      tag,
      access: 'read',
      about,
      summary: 'Read a request of a webhook, with headers and body',
      params: requestParams,
      data: loggedInFullSchema,
      errors: ['not_found'],
      async handle({ params: { id, rid } }) {
        await existingWebhook(webhooks, id);
        return { data: presentInFull(await logged(id, rid)) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/webhooks/:id/requests/:rid/rerun',
      tag,
      access: 'write',
      about,
      summary: "Put a request through today's transform",
      description:
        'As a dry run it says what would become of it. For real it is as if the request came again now: a new event is ' +
        'accepted, filtered or held, unless the transform gives it an `id` that was seen within 24 hours. It enters the ' +
        'log as a request of its own. Neither a pause nor the list of addresses stops it.',
      params: requestParams,
      body: z.object({ dry_run: z.boolean().default(true) }),
      data: rerunSchema,
      errors: ['not_found', 'transform_failed', 'transform_quarantined', 'environment_archived', ...NOT_NOW],
      async handle({ params: { id, rid }, body: { dry_run }, requestId }) {
        const webhook = inUse(await existingWebhook(webhooks, id));
        if (!dry_run) pressure.admit();
        const { summary, headers, search, body } = await logged(id, rid);
        if (!body) throw new ServiceError('not_found', { detail: 'the body of this request was not kept' });
        const receivedAt = Date.now();
        const startedAt = performance.now();
        const elapsedMs = () => Math.round((performance.now() - startedAt) * 1_000) / 1_000;
        const record = (what: Pick<LoggedRequest['summary'], 'outcome' | 'status' | 'ids' | 'console'>) => {
          if (dry_run) return;
          const again = { ...summary, id: requestId, receivedAt, rerunOf: rid, durationMs: elapsedMs() };
          const { reason: _, message: __, eventName: ___, ...rest } = again;
          recorder.record(id, { summary: { ...rest, ...what }, headers, search, body });
        };
        try {
          const request = { requestId, receivedAt, headers, search, body };
          const { event, env: _, ...taken } = await take(webhook, request, deps, dry_run);
          record({ ...taken, status: 200, ...(event && { eventName: event.name }) });
          return { data: { dry_run, reason: null, ...taken, event, duration_ms: elapsedMs() } };
        } catch (error) {
          record({ outcome: 'rejected', ids: [], ...reasonOf(error) });
          throw error;
        }
      },
    }),
  ];
}
