/** `POST /v1/events`, `/v1/events/:id/send-again`: events that people send by hand. */
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { NOT_NOW } from '../../errors.ts';
import type { Acceptor } from '../../jobs/ingestion/acceptor.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import {
  copyToResend,
  type Event,
  eventSchema,
  rejectDeep,
  rejectFarFuture,
  type Source,
} from '../../model/events/event.ts';
import type { Environments } from '../../store/environments/environments.ts';
import type { Events } from '../../store/events/events.ts';
import { refuseArchived } from '../receive/resolve-environment.ts';
import { type Route, route } from '../rest/route.ts';
import { eventParams, noSuchEvent } from '../views/event.ts';

export interface EventSendRouteDeps {
  config: Pick<Config, 'eventMaxFutureMs'>;
  events: Events;
  environments: Environments;
  acceptor: Acceptor;
  pressure: Backpressure;
  /** Bytes of the largest body with an event. */
  eventLimit: () => number;
}

export function eventSendRoutes(deps: EventSendRouteDeps): Route[] {
  const { config, events, environments, acceptor, pressure, eventLimit } = deps;
  const shared = { method: 'post', tag: 'Events', access: 'write', about: 'environment', status: 201 } as const;

  async function accept(event: Event, env: string, source: Source, requestId: string): Promise<string> {
    pressure.admit();
    const environment = await environments.seek(env);
    if (environment) refuseArchived(environment);
    const [internalId] = await acceptor.accept([event], { env, source, requestId, receivedAt: Date.now() });
    return internalId as string;
  }

  return [
    route({
      ...shared,
      path: '/v1/events',
      summary: 'Send an event',
      description:
        'As an event key would: it is stored, runs the functions that it triggers, and is ignored when its `id` was seen within 24 ' +
        'hours; then the answer names the event that came first. Programs send events with an event key.',
      body: eventSchema,
      eventLimit,
      data: z.object({
        internal_id: z.string().meta({ description: 'Of the event; of an earlier one that has the same `id`' }),
      }),
      errors: ['event_invalid', 'body_too_large', 'environment_archived', ...NOT_NOW],
      async handle({ env, body, requestId }) {
        rejectDeep(body);
        rejectFarFuture([body], Date.now(), config.eventMaxFutureMs);
        return { data: { internal_id: await accept(body, env, 'api', requestId) } };
      },
    }),
    route({
      ...shared,
      path: '/v1/events/:id/send-again',
      summary: 'Send an event again',
      description:
        'Makes a new event of the same name, data, user and v, with the present time and without the deduplication ID, so that it runs ' +
        'every function it triggers.',
      params: eventParams,
      data: z.object({ internal_id: z.string().meta({ description: 'Of the new event' }) }),
      errors: ['not_found', 'environment_archived', ...NOT_NOW],
      async handle({ env, params: { id }, requestId }) {
        const event = await events.read(env, id);
        if (!event) throw noSuchEvent(id);
        return { data: { internal_id: await accept(copyToResend(event), env, `event:${id}`, requestId) } };
      },
    }),
  ];
}
