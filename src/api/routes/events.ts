/** `/v1/events`: looking stored events up (spec 1.2, 4.3). */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { eventSchema } from '../../model/event.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import type { EventCursor, Events, FoundEvent } from '../../store/events.ts';
import type { Runs } from '../../store/runs.ts';
import { type Route, route } from '../route.ts';
import { presentRun, runSchema } from './runs.ts';

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;

const storedEventSchema = z
  .object({
    internal_id: z.string().meta({ description: 'The ID that the service gave the event' }),
    id: z.string().nullable().meta({ description: "The sender's deduplication ID, if it gave one" }),
    name: z.string(),
    data: eventSchema.shape.data,
    ts: z.int().meta({ description: 'Unix milliseconds' }),
    user: eventSchema.shape.user,
    v: z.string().optional(),
    received_at: z.iso.datetime(),
    source: z.string().meta({ description: 'event-key, webhook:<id>, or service' }),
    request_id: z.string(),
    duplicates: z.int().meta({ description: 'How often it was sent again and ignored' }),
  })
  .meta({ id: 'StoredEvent' });

const timeSchema = z
  .union([z.iso.datetime({ offset: true }), z.string().regex(/^\d{1,15}$/)], 'an ISO 8601 time or Unix milliseconds')
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : Date.parse(text)));

const cursorSchema = z.string().transform((text, context): EventCursor => {
  const [receivedAt, internalId] = Buffer.from(text, 'base64url').toString('latin1').split('.');
  if (/^\d{1,15}$/.test(receivedAt ?? '') && ID_PATTERN.test(internalId ?? '')) {
    return { receivedAt: Number(receivedAt), internalId: internalId as string };
  }
  context.addIssue({ code: 'custom', message: 'a cursor is the one that the page before carried in metadata.cursor' });
  return z.NEVER;
});

const params = z.object({ id: z.string().meta({ description: 'Internal ID' }) });

const notFound = (id: string) => new ServiceError('not_found', { detail: `no event has the internal id "${id}"` });

export function eventRoutes({ events, runs }: { events: Events; runs: Runs }): Route[] {
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
        limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE),
        cursor: cursorSchema.optional(),
      }),
      data: z.array(storedEventSchema),
      errors: [],
      async handle({ env, query: { name, received_after, received_before, limit, cursor } }) {
        const page = await events.list(
          { env, name, receivedAfter: received_after, receivedBefore: received_before, limit, cursor },
          Date.now(),
        );
        return { data: page.map(presentEvent), metadata: page.length === limit ? { cursor: cursorAfter(page) } : {} };
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

function cursorAfter(page: FoundEvent[]): string {
  const { received_at, internal_id } = page.at(-1) as FoundEvent;
  return Buffer.from(`${received_at}.${internal_id}`).toString('base64url');
}
