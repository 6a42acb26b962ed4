/** `/v1/webhooks/:id/requests`: the request log of a webhook; re-runs a logged request. */
import { z } from 'zod';
import { BACKPRESSURE_ERRORS, ServiceError } from '../../errors.ts';
import { eventSchema } from '../../model/events/event.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { LOG_OUTCOMES, type LoggedRequest, VERIFICATION_RESULTS } from '../../model/webhooks/request-log.ts';
import { apiObject, textOrNull, timeSchema } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { existingWebhook } from '../receive/existing-webhook.ts';
import { loggedRequestOf } from '../receive/logged-request.ts';
import { processWebhook } from '../receive/process-webhook.ts';
import { MAX_EVENTS } from '../receive/transform-result.ts';
import { responseOf } from '../receive/webhook-outcome.ts';
import { largeOf } from '../receive/webhook-request.ts';
import { listQuery, listReply, pageQuery } from '../rest/lists.ts';
import { ownerOfWebhook } from '../rest/owners.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { customResponseSchema } from '../views/custom-response.ts';
import { originalRequestSchema, presentOriginal } from '../views/original-request.ts';
import { listedRequestSchema, loggedRequestDetailsSchema, presentDetails, presentLogged } from '../views/request.ts';

const rerunSchema = apiObject('Rerun', {
  dry_run: z.boolean(),
  outcome: z.enum(LOG_OUTCOMES),
  reason: textOrNull,
  event: eventSchema.nullable().describe('The first event that the transform makes; null: it makes none'),
  events: z.array(eventSchema).max(MAX_EVENTS),
  response: customResponseSchema.nullable().describe('null: the usual response'),
  ids: z.array(z.string()).describe('Internal ID of the event; empty for a dry run'),
  console: z.array(z.object({ level: z.string(), text: z.string() })),
  duration_ms: z.number(),
});

export function webhookLogRoutes(deps: ApiParts): Route[] {
  const { webhooks, webhookLog, requestLogWriter, backpressure, largeBodies } = deps;
  const routes = routesOf({ tag: 'Webhooks', scope: 'owner', owner: ownerOfWebhook(webhooks) });

  async function loggedRequest(webhookId: string, requestId: string): Promise<LoggedRequest> {
    const request = await webhookLog.read(webhookId, requestId);
    if (!request)
      throw new ServiceError('not_found', {
        detail: `this webhook's request log has no request with the ID "${requestId}"`,
      });
    return request;
  }

  return [
    routes.get('/v1/webhooks/:id/requests', {
      operationId: 'listWebhookRequests',
      summary: 'List logged requests of a webhook',
      description: 'Newest first, whatever their outcome. A request is logged after its response.',
      query: z.object({
        ...pageQuery(z.string().regex(ID_PATTERN)),
        outcome: listQuery(LOG_OUTCOMES).describe('One or more, separated by commas or repeated'),
        verification: z
          .enum(VERIFICATION_RESULTS)
          .optional()
          .describe('failed: requests that could not be authenticated'),
        received_after: timeSchema.optional().describe('Inclusive'),
        received_before: timeSchema.optional().describe('Exclusive'),
      }),
      data: z.array(listedRequestSchema),
      async handle({
        params: { id },
        query: { limit, cursor, outcome: outcomes, verification, received_after: after, received_before: before },
      }) {
        await existingWebhook(webhooks, id);
        const query = { limit, cursor, outcomes, verification, after, before };
        const { requests, next, stoppedEarly } = await webhookLog.list(id, query, Date.now());
        return listReply(requests, {
          present: presentLogged,
          positionOf: ({ id }) => id,
          next,
          stoppedEarly,
          omittable: ['console', 'message'],
        });
      },
    }),
    routes.get('/v1/webhooks/:id/requests/:rid', {
      operationId: 'getWebhookRequest',
      summary: 'Get a logged request with headers and body',
      data: loggedRequestDetailsSchema,
      errors: ['not_found', 'archive_unavailable'],
      async handle({ params: { id, rid } }) {
        const { verification } = await existingWebhook(webhooks, id);
        return { data: presentDetails(id, await loggedRequest(id, rid), verification) };
      },
    }),
    routes.get('/v1/webhooks/:id/requests/:rid/original', {
      operationId: 'getOriginalWebhookRequest',
      access: 'write',
      summary: 'Get a logged request as received',
      description:
        'For programs that forward the request to another server. Signatures are shown, so that the server can verify the request; passwords, tokens and cookies are not.',
      data: originalRequestSchema,
      errors: ['not_found', 'archive_unavailable', 'overloaded'],
      async handle({ params: { id, rid } }) {
        const webhook = await existingWebhook(webhooks, id);
        const logged = await loggedRequest(id, rid);
        const { body, release } = await largeBodies.bodyOf(id, logged);
        return { data: presentOriginal({ ...logged, body }, webhook), onSent: release };
      },
    }),
    routes.get('/v1/webhooks/:id/requests/:rid/body', {
      operationId: 'getWebhookRequestBody',
      summary: 'Get the body of a logged request',
      description: 'Byte for byte. The reference that a transform gets for a large body leads here.',
      file: 'application/octet-stream',
      errors: ['not_found', 'archive_unavailable', 'overloaded'],
      async handle({ params: { id, rid } }) {
        await existingWebhook(webhooks, id);
        // A large body is kept before its request is logged, and functions may ask for it immediately.
        const logged = await webhookLog.read(id, rid);
        const { body, release } = await (logged ? largeBodies.bodyOf(id, logged) : largeBodies.read(id, rid));
        if (body) return { data: body, onSent: release };
        release();
        throw bodyNotFound();
      },
    }),
    routes.post('/v1/webhooks/:id/requests/:rid/rerun', {
      operationId: 'rerunWebhookRequest',
      summary: 'Re-run a logged request',
      description:
        'Processes the request as if it were received now, with the current transform. A dry run returns the outcome and changes nothing. ' +
        'Otherwise the new event is accepted, filtered or held, and is ignored as a duplicate if the transform sets an `id` that was seen ' +
        'within 24 hours; the re-run is logged as a request of its own. A paused webhook and its list of addresses do not prevent a re-run.',
      body: z.object({ dry_run: z.boolean().default(true) }),
      data: rerunSchema,
      errors: [
        'not_found',
        'filter_failed',
        'transform_failed',
        'transform_quarantined',
        'environment_archived',
        'archive_unavailable',
        ...BACKPRESSURE_ERRORS,
      ],
      async handle({ params: { id, rid }, body: { dry_run: dryRun }, requestId }) {
        const webhook = webhooks.inUse(await existingWebhook(webhooks, id));
        if (!dryRun) backpressure.admit();
        const logged = await loggedRequest(id, rid);
        const { summary, headers, search } = logged;
        const receivedAt = Date.now();
        const { method } = summary;
        const large = largeOf(summary);
        const [rerun, result] = await largeBodies.withBodyOf(id, logged, async (body) => {
          if (!body) throw bodyNotFound();
          const startedAt = performance.now();
          const request = { requestId, receivedAt, method, headers, search, body, large };
          const result = await processWebhook(webhook, request, deps, { dryRun, logged: summary });
          const origin = { ip: summary.ip, rerunOf: rid };
          return [loggedRequestOf(webhook, request, result, startedAt, origin), result] as const;
        });
        if (!dryRun) requestLogWriter.add(id, rerun);
        responseOf(result);
        const { outcome, reason = null, ids, console, durationMs } = rerun.summary;
        const { decided } = result;
        const events = 'events' in decided ? [...decided.events] : [];
        const response = ('response' in decided && decided.response) || null;
        return {
          ...(dryRun && { audited: false as const }),
          data: {
            dry_run: dryRun,
            outcome,
            reason,
            event: events[0] ?? null,
            events,
            response,
            ids,
            console,
            duration_ms: durationMs,
          },
        };
      },
    }),
  ];
}

function bodyNotFound(): ServiceError {
  return new ServiceError('not_found', { detail: 'the request log does not have the body of this request' });
}
