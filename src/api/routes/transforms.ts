/** `/v1/transforms/test`: what a transform makes of a sample request. Ingests nothing (spec 4.3). */
import { z } from 'zod';
import { eventSchema } from '../../model/event.ts';
import { newId } from '../../model/ids.ts';
import type { Transforms } from '../../transforms/transforms.ts';
import { eventOfTransform } from '../receive/intake.ts';
import { toTransformRequest } from '../receive/webhook-request.ts';
import { type Route, route } from '../route.ts';

const stringOrList = z.union([z.string(), z.array(z.string())]);

const sampleSchema = z.object({
  transform: z.string().min(1).max(65_536),
  body: z
    .unknown()
    .meta({ description: 'A string is the raw body as a provider sends it; anything else is sent as JSON' }),
  headers: z.record(z.string(), z.string()).default({}),
  query: z.record(z.string(), stringOrList).default({}),
});

export const resultSchema = z
  .object({
    event: eventSchema.nullable().meta({ description: 'The event it would make; null: nothing to ingest' }),
    console: z.array(z.object({ level: z.string(), text: z.string() })),
    duration_ms: z.number(),
  })
  .meta({ id: 'TransformResult' });

export function transformRoutes({ transforms }: { transforms: Transforms }): Route[] {
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
            event: event === null ? null : eventOfTransform(event, text),
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
