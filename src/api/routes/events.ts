/** `/v1/events`: lists and reads stored events. */

import { z } from 'zod';
import { nameOfPrincipal } from '../../model/auth/access.ts';
import { gistOf } from '../../model/events/gist.ts';
import { timeSchema } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { listEvents } from '../rest/event-list.ts';
import { eventPosition, listQuery, listReply, longPageQuery, pageQuery, timePosition } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { LARGE_FIELDS, listedRunSchema, listOfRuns } from '../rest/run-list.ts';
import { idPrefixSchema, searchQuery } from '../rest/search-query.ts';
import { eventNotFound, eventParams, listedEventSchema, presentEvent, storedEventSchema } from '../views/event.ts';
import { presentBrief } from '../views/run.ts';

const routes = routesOf({ tag: 'Events', scope: 'environment', forApps: true });

export function eventRoutes({
  acceptedEvents: events,
  eventLists,
  runLists,
  listedRuns,
  runStates,
  searches,
}: ApiParts): Route[] {
  async function positionOf(env: string, id: string) {
    const event = await events.read(env, id);
    if (!event) throw eventNotFound(id);
    return { at: event.received_at, id };
  }

  return [
    routes.get('/v1/events', {
      operationId: 'listEvents',
      summary: 'List events',
      description:
        'Newest first. With `source`, or with large events, a page may have fewer events than its limit although more follow; only the last page has no cursor. ' +
        'A search stops after 5 s: then `metadata.stopped_early` is set, and the cursor continues from there.',
      query: z.object({
        name: z.string().optional().describe('The name, or a prefix with `*`: `order/*`'),
        source: z
          .string()
          .optional()
          .describe(
            'The source of the events, such as `webhook:<id>`, or `webhook` for all webhooks; `!service`: all but the events of the service itself',
          ),
        id: z.string().max(512).optional().describe("The event's internal ID, or its deduplication ID"),
        id_prefix: idPrefixSchema
          .optional()
          .describe('Prefix of internal IDs. Finds events received within a day of the time in their ID'),
        ...searchQuery('events'),
        received_after: timeSchema.optional().describe('Inclusive'),
        received_before: timeSchema.optional().describe('Exclusive'),
        include: listQuery(['runs', 'gist']).describe(
          'runs: the runs that each event triggered; gist: the first plain values of its data, on one line',
        ),
        exclude: z.enum(['data']).optional().describe('data: omits the data of the events, which may be large'),
        ...pageQuery(eventPosition),
      }),
      data: z.array(listedEventSchema),
      errors: ['not_found', 'archive_unavailable', 'searches_full'],
      async handle({ env, query, principal, dialect }) {
        const { received_after, received_before, include = [], exclude, cursor, ...filters } = query;
        const position = cursor && ('at' in cursor ? cursor : await positionOf(env, cursor.id));
        const timeRange = { after: received_after, before: received_before, cursor: position };
        const page = await listEvents(
          { eventLists, searches },
          { env, principal: nameOfPrincipal(principal), ...filters, timeRange },
          Date.now(),
        );
        const data = page.events.map((event) => {
          const { data, ...rest } = presentEvent(event, env, dialect);
          const gist = include.includes('gist') && { gist: gistOf(data) };
          return exclude === 'data' ? { ...rest, ...gist } : { ...rest, data, ...gist };
        });
        const ids = data.map(({ internal_id }) => internal_id);
        const triggered = include.includes('runs') && (await runLists.briefsByEvent(env, ids));
        const rows = data.map((event, i) => ({
          ...event,
          ...(triggered && { runs: triggered[i]?.map(presentBrief) ?? [] }),
        }));
        return listReply(rows, {
          present: (event) => event,
          positionOf: ({ internal_id, received_at }) => ({ at: Date.parse(received_at), id: internal_id }),
          next: page.next,
          stoppedEarly: page.stoppedEarly,
          omittable: ['data', 'user', 'runs'],
        });
      },
    }),
    routes.get('/v1/events/:id', {
      operationId: 'getEvent',
      summary: 'Get an event',
      params: eventParams,
      data: storedEventSchema,
      errors: ['not_found', 'archive_unavailable'],
      async handle({ env, dialect, params: { id } }) {
        const event = await events.read(env, id);
        if (!event) throw eventNotFound(id);
        return { data: presentEvent(event, env, dialect) };
      },
    }),
    routes.get('/v1/events/:id/runs', {
      operationId: 'listEventRuns',
      summary: 'List the runs that an event triggered',
      params: eventParams,
      query: z.object({
        exclude: listQuery(LARGE_FIELDS).describe(
          'output: omits the outputs, which may be large; error: omits stack, cause and data of the errors',
        ),
        ...longPageQuery(timePosition),
      }),
      data: z.array(listedRunSchema),
      errors: ['not_found', 'archive_unavailable'],
      async handle({ env, dialect, params: { id }, query: { exclude = [], limit, cursor } }) {
        if (!(await events.read(env, id))) throw eventNotFound(id);
        const all = await runLists.readByEvent(env, id);
        const from = cursor ? all.findIndex((run) => run.id === cursor.id) + 1 : 0;
        const page = all.slice(from, limit && from + limit);
        const last = from + page.length < all.length ? page.at(-1) : undefined;
        const next = last && { at: last.queuedAt, id: last.id };
        const fields = LARGE_FIELDS.filter((field) => !exclude.includes(field));
        return listOfRuns({ listedRuns, runStates }, env, page, { fields, next, dialect });
      },
    }),
  ];
}
