/** `/v1/events/:id/arrival`: how an event came. */
import { z } from 'zod';
import { subjectOf } from '../../model/events/event.ts';
import type { EventKeys } from '../../store/auth/event-keys.ts';
import type { Events } from '../../store/events/events.ts';
import type { WebhookLog } from '../../store/webhooks/webhook-log.ts';
import type { Webhooks } from '../../store/webhooks/webhooks.ts';
import { type Route, route } from '../rest/route.ts';
import { eventParams, noSuchEvent } from '../views/event.ts';
import { loggedInFullSchema, presentInFull } from '../views/request.ts';

const namedSchema = z.object({ id: z.string(), name: z.string() });

export const provenanceSchema = z
  .object({
    webhook: namedSchema.nullable().meta({ description: 'Whose request it was; null: none, or one that is deleted' }),
    request: loggedInFullSchema.nullable().meta({ description: 'What the provider sent; null once it is not kept' }),
    event_key: namedSchema
      .nullable()
      .meta({ description: 'Which key sent it; null: none, one of a setting, or one that is deleted' }),
  })
  .meta({ id: 'Arrival' });

export interface ProvenanceRouteDeps {
  events: Events;
  eventKeys: EventKeys;
  webhooks: Webhooks;
  webhookLog: WebhookLog;
}

export function provenanceRoutes({ events, eventKeys, webhooks, webhookLog }: ProvenanceRouteDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/events/:id/arrival',
      tag: 'Events',
      access: 'read',
      about: 'environment',
      summary: 'Read how an event came',
      params: eventParams,
      data: provenanceSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        const event = await events.read(env, id);
        if (!event) throw noSuchEvent(id);
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
            request: request ? presentInFull(request) : null,
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
