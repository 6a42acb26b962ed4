/** `/v1/events`: looking stored events up (spec 1.2, 4.3). */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { Acceptor } from '../../jobs/accept.ts';
import { eventSchema, sentAgain } from '../../model/event.ts';
import type { Environments } from '../../store/environments.ts';
import type { Events, FoundEvent } from '../../store/events.ts';
import type { Runs } from '../../store/runs.ts';
import { inTime, nextPage, pageQuery } from '../cursor.ts';
import { refuseArchived } from '../receive/place.ts';
import { type Route, route } from '../route.ts';
import { presentRun, runSchema } from '../views/run.ts';
import { timeSchema } from '../views/time.ts';

export const storedEventSchema = z
  .object({
    internal_id: z.string().meta({ description: 'The ID that the service gave the event' }),
    id: z.string().nullable().meta({ description: "The sender's deduplication ID, if it gave one" }),
    name: z.string(),
    data: eventSchema.shape.data,
    ts: z.int().meta({ description: 'Unix milliseconds' }),
    user: eventSchema.shape.user,
    v: z.string().optional(),
    received_at: z.iso.datetime(),
    source: z
      .string()
      .meta({ description: 'event-key, webhook:<id>, event:<internal id> (that one, sent again), or service' }),
    request_id: z.string(),
    duplicates: z.int().meta({ description: 'How often it was sent again and ignored' }),
  })
  .meta({ id: 'StoredEvent' });

const params = z.object({ id: z.string().meta({ description: 'Internal ID' }) });

const notFound = (id: string) => new ServiceError('not_found', { detail: `no event has the internal id "${id}"` });

export interface EventRouteDeps {
  events: Events;
  runs: Runs;
  environments: Environments;
  acceptor: Acceptor;
}

export function eventRoutes({ events, runs, environments, acceptor }: EventRouteDeps): Route[] {
  const tag = 'Events';
  return [
    route({
      method: 'get',
      path: '/v1/events',
      tag,
      access: 'read',
      about: 'environment',
      summary: 'List events, newest first',
      query: z.object({
        name: z.string().optional(),
        received_after: timeSchema.optional().meta({ description: 'Inclusive' }),
        received_before: timeSchema.optional().meta({ description: 'Exclusive' }),
        ...pageQuery(inTime),
      }),
      data: z.array(storedEventSchema),
      errors: [],
      async handle({ env, query: { name, received_after, received_before, limit, cursor } }) {
        const span = { after: received_after, before: received_before, cursor };
        const page = await events.list({ env, name, span, limit }, Date.now());
        const last = page.length === limit ? page.at(-1) : undefined;
        return {
          data: page.map(presentEvent),
          metadata: nextPage(last && { at: last.received_at, id: last.internal_id }),
        };
      },
    }),
    route({
      method: 'get',
      path: '/v1/events/:id',
      tag,
      access: 'read',
      about: 'environment',
      summary: 'Read an event',
      params,
      data: storedEventSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        const event = await events.read(env, id);
        if (!event) throw notFound(id);
        return { data: presentEvent(event) };
      },
    }),
    route({
      method: 'get',
      path: '/v1/events/:id/runs',
      tag,
      access: 'read',
      about: 'environment',
      summary: 'List the runs an event caused',
      params,
      data: z.array(runSchema),
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        if (!(await events.read(env, id))) throw notFound(id);
        return { data: (await runs.ofEvent(env, id)).map(presentRun) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/events/:id/send-again',
      tag,
      access: 'write',
      about: 'environment',
      summary: 'Send an event again',
      description:
        'Makes a new event of the same name, data, user and v, with the present time and without the deduplication ID, so that it runs ' +
        'every function it triggers.',
      params,
      status: 201,
      data: z.object({ internal_id: z.string().meta({ description: 'Of the new event' }) }),
      errors: ['not_found', 'environment_archived', 'overloaded'],
      async handle({ env, params: { id }, requestId }) {
        const event = await events.read(env, id);
        if (!event) throw notFound(id);
        const environment = await environments.seek(env);
        if (environment) refuseArchived(environment);
        const arrival = { env, source: `event:${id}` as const, requestId, receivedAt: Date.now() };
        const [internalId] = await acceptor.accept([sentAgain(event)], arrival);
        return { data: { internal_id: internalId } };
      },
    }),
  ];
}

function presentEvent({
  internal_id,
  id,
  name,
  data,
  ts,
  user,
  v,
  received_at,
  source,
  request_id,
  duplicates,
}: FoundEvent) {
  const received = new Date(received_at).toISOString();
  return {
    internal_id,
    id: id ?? null,
    name,
    data,
    ts,
    user,
    v,
    received_at: received,
    source,
    request_id,
    duplicates,
  };
}
