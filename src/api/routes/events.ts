/** `/v1/events`: looking stored events up. */
import { z } from 'zod';
import type { EventLists } from '../../store/events/event-lists.ts';
import type { Events } from '../../store/events/events.ts';
import type { RunLists } from '../../store/runs/run-lists.ts';
import { listReply } from '../rest/list-response.ts';
import { cursorQuery, inTime, pageQuery } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';
import { listedRunSchema, listOfRuns } from '../rest/run-list.ts';
import { eventParams, listedEventSchema, noSuchEvent, presentEvent, storedEventSchema } from '../views/event.ts';
import { presentBrief } from '../views/run.ts';
import { timeSchema } from '../views/time.ts';

export interface EventRouteDeps {
  events: Events;
  eventLists: EventLists;
  runLists: RunLists;
}

export function eventRoutes({ events, eventLists, runLists }: EventRouteDeps): Route[] {
  const tag = 'Events';
  return [
    route({
      method: 'get',
      path: '/v1/events',
      tag,
      access: 'read',
      about: 'environment',
      summary: 'List events, newest first',
      description:
        'With `source`, or of large events, a page may hold fewer events than its limit and yet carry a cursor: go on until none comes.',
      query: z.object({
        name: z.string().optional(),
        source: z.string().optional().meta({
          description: 'Where they came from: `webhook:<id>`, or `webhook` for those of all webhooks; and so on',
        }),
        id: z
          .string()
          .max(512)
          .optional()
          .meta({ description: "The event's internal ID, or the deduplication ID that its sender gave it" }),
        received_after: timeSchema.optional().meta({ description: 'Inclusive' }),
        received_before: timeSchema.optional().meta({ description: 'Exclusive' }),
        include: z.enum(['runs']).optional().meta({ description: 'runs: those that each event caused' }),
        exclude: z.enum(['data']).optional().meta({ description: 'data: what the events carry, which may be large' }),
        ...pageQuery(inTime),
      }),
      data: z.array(listedEventSchema),
      errors: [],
      async handle({ env, query }) {
        const { name, source, id, received_after, received_before, include, exclude, limit, cursor } = query;
        const timeRange = { after: received_after, before: received_before, cursor };
        const wanted = { env, name, source, timeRange, limit };
        const page = await (id === undefined ? eventLists.list(wanted, Date.now()) : eventLists.listById(id, wanted));
        const data = page.events.map((event) => {
          const { data, ...rest } = presentEvent(event);
          return exclude === 'data' ? rest : { ...rest, data };
        });
        const ids = data.map(({ internal_id }) => internal_id);
        const caused = include && (await runLists.briefsByEvent(env, ids));
        const rows = data.map((event, i) => ({
          ...event,
          ...(caused && { runs: caused[i]?.map(presentBrief) ?? [] }),
        }));
        return listReply(rows, {
          present: (event) => event,
          positionOf: ({ internal_id, received_at }) => ({ at: Date.parse(received_at), id: internal_id }),
          next: page.next,
          omittable: ['data', 'user', 'runs'],
        });
      },
    }),
    route({
      method: 'get',
      path: '/v1/events/:id',
      tag,
      access: 'read',
      about: 'environment',
      summary: 'Read an event',
      params: eventParams,
      data: storedEventSchema,
      errors: ['not_found'],
      async handle({ env, params: { id } }) {
        const event = await events.read(env, id);
        if (!event) throw noSuchEvent(id);
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
      params: eventParams,
      query: z.object(cursorQuery(inTime)),
      data: z.array(listedRunSchema),
      errors: ['not_found'],
      async handle({ env, params: { id }, query: { cursor } }) {
        if (!(await events.read(env, id))) throw noSuchEvent(id);
        const all = await runLists.readByEvent(env, id);
        const from = cursor ? all.findIndex((run) => run.id === cursor.id) + 1 : 0;
        return listOfRuns(runLists.listed, env, all.slice(from), { withOutputs: true });
      },
    }),
  ];
}
