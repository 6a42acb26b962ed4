/** `POST /v1/events`, `/v1/events/:id/send-again`, `/v1/events/send-again`: sends events by hand; `/v1/events/match`: lists the functions that
 *  would run. */
import { z } from 'zod';
import { BACKPRESSURE_ERRORS, ServiceError } from '../../errors.ts';
import { listeningFunctions, MATCH_OUTCOMES } from '../../jobs/matching/listening-functions.ts';
import { copyToResend, type Event, type Source } from '../../model/events/event.ts';
import { rejectDeep, rejectFarFuture, sentEventSchema } from '../../model/events/sent-event.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { rejectArchived } from '../receive/resolve-environment.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { eventNotFound, eventParams } from '../views/event.ts';

const FUNCTIONS_MAX = 100;
/** Maximum number of events per request. */
const RESENT_MAX = 100;

export const matchSchema = apiObject('EventMatch', {
  functions: z
    .array(z.object({ function_id: z.string(), outcome: z.enum(MATCH_OUTCOMES) }))
    .max(FUNCTIONS_MAX)
    .describe(
      'The first 100, by ID. runs: the function would run; paused: the function is paused; not_evaluated: its expression fails on the event, or costs too much',
    ),
  total: z.int(),
});

export const resentSchema = apiObject('ResentEvents', {
  sent: z
    .array(z.object({ id: z.string(), internal_id: z.string().describe('Internal ID of the new event') }))
    .max(RESENT_MAX),
  missing: z.array(z.string()).max(RESENT_MAX).describe('Events that are not or no longer stored'),
  left: z.array(z.string()).max(RESENT_MAX).describe('Events that were not sent: repeat the request with these IDs'),
});

const routes = routesOf({ tag: 'Events', scope: 'environment' });

export function sendEventRoutes(deps: ApiParts): Route[] {
  const {
    eventMaxFutureMs,
    ids,
    acceptedEvents: events,
    environments,
    acceptor,
    backpressure,
    eventLimits,
    functionTables,
    evaluator,
  } = deps;

  async function accept(event: Event, env: string, source: Source, requestId: string): Promise<string> {
    backpressure.admit();
    const environment = await environments.findOrFetch(env);
    if (environment) rejectArchived(environment);
    const [internalId] = await acceptor.accept([event], { env, source, requestId, receivedAt: Date.now() });
    return internalId as string;
  }

  return [
    routes.post('/v1/events', {
      status: 201,
      operationId: 'sendEvent',
      summary: 'Send an event',
      description:
        'Works like sending with an event key: the event is stored and triggers functions. It is ignored as a duplicate if its `id` was seen ' +
        'within 24 hours, and the response has the ID of the first event. Programs should send events with an event key.',
      body: sentEventSchema,
      eventLimit: (env) => eventLimits.of(env),
      data: z.object({
        internal_id: z
          .string()
          .describe('Internal ID of the event; if an earlier event has the same `id`, the ID of that event'),
      }),
      errors: ['event_invalid', 'body_too_large', 'environment_archived', ...BACKPRESSURE_ERRORS],
      async handle({ env, body, requestId }) {
        rejectDeep(body);
        rejectFarFuture([body], Date.now(), eventMaxFutureMs);
        return { data: { internal_id: await accept(body, env, 'api', requestId) } };
      },
    }),
    routes.post('/v1/events/match', {
      operationId: 'matchEvent',
      summary: 'List the functions that an event would trigger',
      description:
        'Takes an event as `POST /v1/events` does, and sends nothing. Functions whose expression is false are left out. Flow control, such as a rate ' +
        'limit, is ignored.',
      audited: false,
      body: sentEventSchema,
      eventLimit: (env) => eventLimits.of(env),
      data: matchSchema,
      errors: ['event_invalid', 'body_too_large'],
      async handle({ env, body }) {
        rejectDeep(body);
        const found = await listeningFunctions(body, env, { ids, functionTables, evaluator });
        const shown = found.slice(0, FUNCTIONS_MAX);
        const functions = shown.map(({ functionId, outcome }) => ({ function_id: functionId, outcome }));
        return { data: { functions, total: found.length } };
      },
    }),
    routes.post('/v1/events/:id/send-again', {
      status: 201,
      operationId: 'resendEvent',
      summary: 'Send an event again',
      description:
        'Creates a new event with the same name, data, user and v, the current time and no deduplication ID, so that it triggers its ' +
        'functions again.',
      params: eventParams,
      data: z.object({ internal_id: z.string().describe('Internal ID of the new event') }),
      errors: ['not_found', 'archive_unavailable', 'environment_archived', ...BACKPRESSURE_ERRORS],
      async handle({ env, params: { id }, requestId }) {
        const event = await events.read(env, id);
        if (!event) throw eventNotFound(id);
        return { data: { internal_id: await accept(copyToResend(event), env, `event:${id}`, requestId) } };
      },
    }),
    routes.post('/v1/events/send-again', {
      status: 201,
      operationId: 'resendEvents',
      summary: 'Send events again',
      description:
        'Sends each event again as `/v1/events/:id/send-again` does, in the order of the IDs. If the service can accept no more events, it stops, and `left` has the remaining IDs.',
      body: z.strictObject({
        ids: z.array(z.string().regex(ID_PATTERN)).min(1).max(RESENT_MAX).describe('Internal IDs'),
      }),
      data: resentSchema,
      errors: ['archive_unavailable', 'environment_archived', ...BACKPRESSURE_ERRORS],
      async handle({ env, body: { ids }, requestId }) {
        const sent: z.input<typeof resentSchema>['sent'] = [];
        const missing: string[] = [];
        for (const [at, id] of ids.entries()) {
          try {
            const event = await events.read(env, id);
            if (!event) missing.push(id);
            else sent.push({ id, internal_id: await accept(copyToResend(event), env, `event:${id}`, requestId) });
          } catch (error) {
            // The response and the audit log contain what was sent.
            if (sent.length === 0 || !(error instanceof ServiceError)) throw error;
            return { data: { sent, missing, left: ids.slice(at) } };
          }
        }
        return { data: { sent, missing, left: [] } };
      },
    }),
  ];
}
