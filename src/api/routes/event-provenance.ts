/** `/v1/events/:id/arrival`: the provenance of an event. */
import { z } from 'zod';
import { subjectOf } from '../../model/events/event.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { eventNotFound, eventParams } from '../views/event.ts';
import { loggedRequestDetailsSchema, presentDetails } from '../views/request.ts';

const namedSchema = z.object({ id: z.string(), name: z.string() });

export const provenanceSchema = apiObject('Provenance', {
  webhook: namedSchema
    .nullable()
    .describe('The webhook that received the request; null: no webhook did, or it was deleted'),
  request: loggedRequestDetailsSchema
    .nullable()
    .describe("The provider's request; null: it is no longer in the request log"),
  event_key: namedSchema
    .nullable()
    .describe("The sender's event key; null: there is none, it is from the setting EVENT_KEYS, or it was deleted"),
});

const routes = routesOf({ tag: 'Events', scope: 'environment' });

export function provenanceRoutes({ acceptedEvents: events, eventKeys, webhooks, webhookLog }: ApiParts): Route[] {
  return [
    routes.get('/v1/events/:id/arrival', {
      operationId: 'getEventProvenance',
      summary: 'Get the provenance of an event',
      description: 'The event key, or the webhook and its request, by which the event was received.',
      params: eventParams,
      data: provenanceSchema,
      errors: ['not_found', 'archive_unavailable'],
      async handle({ env, params: { id } }) {
        const event = await events.read(env, id);
        if (!event) throw eventNotFound(id);
        const webhookId = subjectOf(event.source, 'webhook');
        const keyId = subjectOf(event.source, 'event-key');
        const [webhook, request, eventKey] = await Promise.all([
          webhookId && webhooks.read(webhookId),
          webhookId && webhookLog.read(webhookId, event.request_id),
          keyId && eventKeys.read(keyId),
        ]);
        return {
          data: {
            webhook: webhook ? named(webhook) : null,
            request: request
              ? presentDetails(webhookId as string, request, (webhook || undefined)?.verification)
              : null,
            event_key: eventKey ? named(eventKey) : null,
          },
        };
      },
    }),
  ];
}

function named({ id, name }: { id: string; name: string }) {
  return { id, name };
}
