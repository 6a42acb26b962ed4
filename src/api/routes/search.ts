/** `/v1/search`: possible meanings of a text, and the fields by which events and runs are searched. */
import { z } from 'zod';
import { nameOfPrincipal } from '../../model/auth/access.ts';
import { addFields, type Field } from '../../model/search/field-paths.ts';
import { EVENT_PREFIX, VARIABLES } from '../../model/search/syntax.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { countPosition, listReply, longPageQuery, pageFrom } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { HIT_KINDS, hitsOf } from '../rest/text-hits.ts';

const TEXT_MAX = 512;
/** Number of events examined for their fields, and maximum number of fields returned. */
const SAMPLED = 10;
const FIELDS_MAX = 200;

export const hitsSchema = apiObject('SearchHits', {
  kind: z
    .enum(HIT_KINDS)
    .describe(
      'Meaning of the text in these hits: an ID, the beginning of IDs, a name, a part of an error, or a value of a payload',
    ),
  list: z.string().describe('Path and query of the list that has all hits'),
  hits: z.array(
    z.object({
      id: z.string().optional().describe('ID of an event or a run'),
      name: z.string().describe('Name of the event, or ID of the function'),
      status: z.string().optional().describe('Status of a run'),
      at: z.iso.datetime().nullish(),
    }),
  ),
});

export const fieldSchema = apiObject('SearchField', {
  path: z.string().describe('Name of the field in a search'),
  type: z.enum(['text', 'time', 'json', 'number', 'boolean', 'null', 'list', 'object']),
  sample: z
    .union([z.string(), z.number(), z.boolean(), z.null()])
    .optional()
    .describe('A value that a recent event has'),
});

const routes = routesOf({ tag: 'Events', scope: 'environment' });

export function searchRoutes(deps: ApiParts): Route[] {
  return [
    routes.get('/v1/search', {
      operationId: 'search',
      summary: 'Find what a text may be',
      description:
        'Looks for events and runs whose ID is or begins with the text, a deduplication ID, event names and functions that contain the text or ' +
        '(`order/*`) begin with it, failed runs whose error contains it, and events with it as a value of a field that the newest events have, such as an order number. Returns a few hits of each. For conditions, use the parameter `search` of `GET /v1/events` and `GET /v1/runs`.',
      query: z.object({ text: z.string().trim().min(1).max(TEXT_MAX) }),
      data: z.array(hitsSchema),
      errors: ['searches_full'],
      async handle({ env, principal, query: { text } }) {
        const { hits, stoppedEarly } = await hitsOf(
          deps,
          { env, principal: nameOfPrincipal(principal) },
          text,
          Date.now(),
        );
        return { data: hits, metadata: stoppedEarly ? { stopped_early: stoppedEarly } : {} };
      },
    }),
    routes.get('/v1/search/fields', {
      operationId: 'listSearchFields',
      summary: 'List the fields of searches',
      description: 'The variables of the search language, then the fields of the newest events, if given of one name.',
      query: z.object({
        of: z.enum(['events', 'runs']),
        name: z.string().max(TEXT_MAX).optional().describe('Event name'),
        ...longPageQuery(countPosition),
      }),
      data: z.array(fieldSchema),
      async handle({ env, query: { of, name, ...at } }) {
        const wanted = { env, name, timeRange: {}, limit: SAMPLED };
        const { events, stoppedEarly } = await deps.eventLists.list(wanted, Date.now());
        const fields = new Map<string, Field>();
        const prefix = of === 'runs' ? EVENT_PREFIX : '';
        for (const { data } of events) addFields(fields, `${prefix}data`, data, FIELDS_MAX);
        const variables = [...VARIABLES[of]].map(([path, type]) => ({ path, type }));
        const { page, next } = pageFrom<object>([...variables, ...fields.values()], at);
        return listReply(page, { present: ([, field]) => field, positionOf: ([count]) => count, next, stoppedEarly });
      },
    }),
  ];
}
