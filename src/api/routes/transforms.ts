/** `/v1/transforms/test`: what a transform makes of a sample request. Ingests nothing (docs/webhooks.md#test-a-transform). */
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { eventSchema } from '../../model/events/event.ts';
import { newId } from '../../model/ids.ts';
import { isJsonObject } from '../../model/values/json.ts';
import type { Transforms } from '../../transforms/transforms.ts';
import { MAX_FIELDS } from '../http/urlencoded.ts';
import { eventOfTransform } from '../receive/process-webhook.ts';
import { toTransformRequest } from '../receive/webhook-request.ts';
import { type Route, route } from '../rest/route.ts';

/** A transform, and a webhook's request of 512 KB, which as a field of JSON may take twice as much. */
export const BODY_LIMIT_BYTES = 1_310_720;
const stringOrList = z.union([z.string(), z.array(z.string())]);

/** Counted before they are looked at: each costs some thousandths of a millisecond. */
function few<S extends z.ZodType>(schema: S) {
  return z.preprocess((given, context) => {
    if (!isJsonObject(given) || Object.keys(given).length <= MAX_FIELDS) return given;
    context.addIssue({ code: 'custom', message: `it takes an object of at most ${MAX_FIELDS} fields` });
    return z.NEVER;
  }, schema);
}

const sampleSchema = z.object({
  transform: z.string().min(1).max(65_536),
  body: z
    .unknown()
    .meta({ description: 'A string is the raw body as a provider sends it; anything else is sent as JSON' }),
  headers: few(z.record(z.string(), z.string())).default({}),
  query: few(z.record(z.string(), stringOrList)).default({}),
});

export const resultSchema = z
  .object({
    event: eventSchema.nullable().meta({ description: 'The event it would make; null: nothing to ingest' }),
    console: z.array(z.object({ level: z.string(), text: z.string() })),
    duration_ms: z.number(),
  })
  .meta({ id: 'TransformResult' });

export interface TransformRouteDeps {
  transforms: Transforms;
  config: Pick<Config, 'eventMaxFutureMs'>;
}

export function transformRoutes({ transforms, config }: TransformRouteDeps): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/transforms/test',
      tag: 'Webhooks',
      access: 'write',
      about: 'account',
      changes: false,
      summary: 'Try a transform on a sample request',
      description: 'Runs exactly as a webhook request would, and ingests nothing.',
      body: sampleSchema,
      bodyLimitBytes: BODY_LIMIT_BYTES,
      data: resultSchema,
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
            event: event === null ? null : eventOfTransform(event, text, Date.now(), config.eventMaxFutureMs),
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
  const lowered = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) => [value].flat().map((one): [string, string] => [key, one])),
  );
  return toTransformRequest(Buffer.from(raw), { 'content-type': 'application/json', ...lowered }, search.toString());
}
