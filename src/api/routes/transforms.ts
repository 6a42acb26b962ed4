/** `/v1/transforms/test`: runs a transform on a sample request and ingests nothing. */
import { z } from 'zod';
import { eventSchema } from '../../model/events/event.ts';
import { newId } from '../../model/ids.ts';
import { isJsonObject } from '../../model/values/json.ts';
import { MAX_FIELDS } from '../http/urlencoded.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { checkFilter } from '../receive/check-filter.ts';
import { MAX_EVENTS, resultOfTransform } from '../receive/transform-result.ts';
import { toTransformRequest } from '../receive/webhook-request.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { customResponseSchema } from '../views/custom-response.ts';
import { expressionSchema } from '../views/expression.ts';

/** Room for a transform and a webhook request of 512 KB, which may be twice as long inside JSON. */
export const BODY_LIMIT_BYTES = 1_310_720;
const stringOrList = z.union([z.string(), z.array(z.string())]);

/** Counts the fields first, because validating each takes microseconds. */
function limitedFields<S extends z.ZodType>(schema: S) {
  return z.preprocess((given, context) => {
    if (!isJsonObject(given) || Object.keys(given).length <= MAX_FIELDS) return given;
    context.addIssue({ code: 'custom', message: `expected an object with at most ${MAX_FIELDS} fields` });
    return z.NEVER;
  }, schema);
}

const sampleSchema = z.object({
  transform: z.string().min(1).max(65_536),
  body: z.unknown().describe('A string is the raw body; any other value is sent as JSON'),
  headers: limitedFields(z.record(z.string(), z.string())).default({}),
  query: limitedFields(z.record(z.string(), stringOrList)).default({}),
  filter: expressionSchema.optional().describe('The transform runs only if the request, a POST, meets the filter'),
});

export const transformResultSchema = apiObject('TransformResult', {
  event: eventSchema.nullable().describe('The first event that the transform makes; null: it makes none'),
  events: z.array(eventSchema).max(MAX_EVENTS),
  filtered: z.boolean().describe('The filter dropped the request; the transform did not run'),
  response: customResponseSchema.nullable(),
  console: z.array(z.object({ level: z.string(), text: z.string() })),
  duration_ms: z.number(),
});

const routes = routesOf({ tag: 'Webhooks', scope: 'any-environment' });

export function transformRoutes({
  webhookFilters,
  transforms,
  eventMaxFutureMs,
}: Pick<ApiParts, 'webhookFilters' | 'transforms' | 'eventMaxFutureMs'>): Route[] {
  return [
    routes.post('/v1/transforms/test', {
      audited: false,
      operationId: 'testTransform',
      summary: 'Test a transform',
      description: 'Runs the transform on a sample request exactly as a webhook does, and ingests nothing.',
      body: sampleSchema,
      bodyLimitBytes: BODY_LIMIT_BYTES,
      data: transformResultSchema,
      errors: ['transform_invalid', 'transform_failed', 'filter_failed', 'input_invalid', 'overloaded'],
      async handle({ body: { transform, body, headers, query, filter } }) {
        const filterExpression = filter === undefined ? undefined : checkFilter(filter);
        await transforms.check(transform);
        const sample = lowerCased(headers);
        const request = await sampleRequest(body, sample, query);
        const filtered = { ...request, method: 'POST', headers: sample, receivedAt: Date.now() };
        if (!(await webhookFilters.passes({ id: 'test', filter, filterExpression }, filtered))) {
          return { data: { event: null, events: [], filtered: true, response: null, console: [], duration_ms: 0 } };
        }
        const { returned, text, logs, durationMs } = await transforms.run(
          { id: `test:${newId()}`, version: '1', code: transform },
          request,
        );
        const { events, response = null } = resultOfTransform(returned, text, Date.now(), eventMaxFutureMs);
        return {
          data: {
            event: events[0] ?? null,
            events: [...events],
            filtered: false,
            response,
            console: logs,
            duration_ms: durationMs,
          },
        };
      },
    }),
  ];
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { 'content-type': 'application/json', ...Object.fromEntries(given) };
}

function sampleRequest(body: unknown, headers: Record<string, string>, query: Record<string, string | string[]>) {
  const raw = typeof body === 'string' ? body : JSON.stringify(body ?? {});
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) => [value].flat().map((item): [string, string] => [key, item])),
  );
  return toTransformRequest(Buffer.from(raw), headers, search.toString());
}
