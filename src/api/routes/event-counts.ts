/** `/v1/events/histogram` and `/v1/events/names`: counts of events over time and by name. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { DAY_MS } from '../../model/values/time.ts';
import { apiObject, time, timeSchema } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { cursorQuery, earlyStop, listReply, pageFrom } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';

/** Further names are not listed, because each page would count the names of previous pages again. */
const NAMES_MAX = 10_000;
const namesBefore = z.int().min(1).max(NAMES_MAX);

export const bucketSchema = apiObject('Bucket', {
  from: z.iso.datetime().describe('Inclusive'),
  to: z.iso.datetime().describe('Exclusive'),
  count: z.int(),
});

export const eventNameSchema = apiObject('EventName', {
  name: z.string(),
  count: z.int().describe('Stored events with the name'),
  last_received_at: z.iso.datetime(),
});

const routes = routesOf({ tag: 'Events', scope: 'environment' });

export function eventCountRoutes({ eventCounts }: ApiParts): Route[] {
  return [
    routes.get('/v1/events/histogram', {
      operationId: 'getEventHistogram',
      summary: 'Count events over time',
      description: 'By time of receipt, in buckets of equal length. Default: the last 24 hours.',
      query: z.object({
        name: z.string().optional(),
        received_after: timeSchema.optional().describe('Inclusive; default 24 hours before the end'),
        received_before: timeSchema.optional().describe('Exclusive; default now'),
        buckets: z.coerce.number().int().min(1).max(500).default(60).describe('Number of buckets'),
      }),
      data: z.array(bucketSchema),
      async handle({ env, query: { name, received_after, received_before, buckets } }) {
        const to = received_before ?? Date.now();
        const from = received_after ?? Math.max(0, to - DAY_MS);
        if (from >= to) {
          throw new ServiceError('input_invalid', {
            detail: 'query parameter "received_after": expected a time before received_before',
            facts: { field: 'received_after' },
          });
        }
        const counted = await eventCounts.histogram({ env, name, from, to, buckets });
        return {
          data: counted.buckets.map((bucket) => ({ ...bucket, from: time(bucket.from), to: time(bucket.to) })),
          metadata: earlyStop(counted),
        };
      },
    }),
    routes.get('/v1/events/names', {
      operationId: 'listEventNames',
      summary: 'List event names',
      description: `The names of stored events, at most ${NAMES_MAX.toLocaleString('en')}; the name of the newest event comes first.`,
      query: z.object({
        limit: z.coerce.number().int().min(1).max(1_000).default(100).describe('Maximum number of names'),
        ...cursorQuery(namesBefore),
      }),
      data: z.array(eventNameSchema),
      async handle({ env, query: { limit, cursor = 0 } }) {
        const wanted = Math.min(cursor + limit, NAMES_MAX);
        const { names, stoppedEarly } = await eventCounts.names(env, wanted + 1, Date.now());
        const { page, next } = pageFrom(names, { limit: wanted - cursor, cursor });
        return listReply(page, {
          present: ([, { name, count, lastAt }]) => ({ name, count, last_received_at: time(lastAt) }),
          positionOf: ([at]) => at,
          next: wanted < NAMES_MAX ? next : undefined,
          stoppedEarly,
        });
      },
    }),
  ];
}
