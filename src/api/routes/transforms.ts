/** `/v1/transforms/test`: runs a transform on a sample request and ingests nothing. */
import { z } from 'zod';
import { eventSchema } from '../../model/events/event.ts';
import { newId } from '../../model/ids.ts';
import { isJsonObject } from '../../model/values/json.ts';
import type { Transforms } from '../../transforms/transforms.ts';
import { MAX_FIELDS } from '../http/urlencoded.ts';
import { eventOfTransform } from '../receive/webhook-outcome.ts';
import { toTransformRequest } from '../receive/webhook-request.ts';
import { type Route, route } from '../rest/route.ts';

/** Room for a transform and a webhook request of 512 KB, which may be twice as long inside JSON. */
export const BODY_LIMIT_BYTES = 1_310_720;
const stringOrList = z.union([z.string(), z.array(z.string())]);

/** Counts the fields before it validates them, which takes some microseconds each. */
function limitedFields<S extends z.ZodType>(schema: S) {
  return z.preprocess((given, context) => {
    if (!isJsonObject(given) || Object.keys(given).length <= MAX_FIELDS) return given;
    context.addIssue({ code: 'custom', message: `expected an object with at most ${MAX_FIELDS} fields` });
    return z.NEVER;
  }, schema);
}

const sampleSchema = z.object({
  transform: z.string().min(1).max(65_536),
  body: z.unknown().meta({ description: 'A string is the raw body; any other value is sent as JSON' }),
  headers: limitedFields(z.record(z.string(), z.string())).default({}),
  query: limitedFields(z.record(z.string(), stringOrList)).default({}),
});

export const transformResultSchema = z
  .object({
    event: eventSchema.nullable().meta({ description: 'The event that the transform makes; null: none' }),
    console: z.array(z.object({ level: z.string(), text: z.string() })),
    duration_ms: z.number(),
  })
  .meta({ id: 'TransformResult' });

export interface TransformRouteDeps {
  transforms: Transforms;
  eventMaxFutureMs: number;
}

export function transformRoutes({ transforms, eventMaxFutureMs }: TransformRouteDeps): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/transforms/test',
      tag: 'Webhooks',
      access: 'write',
      scope: 'installation',
      audited: false,
      summary: 'Test a transform',
      description: 'Runs the transform on a sample request exactly as a webhook does, and ingests nothing.',
      body: sampleSchema,
      bodyLimitBytes: BODY_LIMIT_BYTES,
      data: transformResultSchema,
      errors: ['transform_invalid', 'transform_failed', 'overloaded'],
      async handle({ body: { transform, body, headers, query } }) {
        await transforms.check(transform);
        const request = await sampleRequest(body, headers, query);
        const { event, text, logs, durationMs } = await transforms.run(
          { id: `test:${newId()}`, version: '1', code: transform },
          request,
        );
        return {
          data: {
            event: event === null ? null : eventOfTransform(event, text, Date.now(), eventMaxFutureMs),
            console: logs,
            duration_ms: durationMs,
          },
        };
      },
    }),
  ];
}

function sampleRequest(body: unknown, headers: Record<string, string>, query: Record<string, string | string[]>) {
  const raw = typeof body === 'string' ? body : JSON.stringify(body ?? {});
  const lowerCased = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) => [value].flat().map((one): [string, string] => [key, one])),
  );
  return toTransformRequest(Buffer.from(raw), { 'content-type': 'application/json', ...lowerCased }, search.toString());
}
