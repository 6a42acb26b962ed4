/** The operations beside the REST API: sending, and health. They are open, or have keys of their own. */
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { NOT_NOW } from '../../errors.ts';
import { eventSchema } from '../../model/events/event.ts';
import { environmentHeader, failures, json } from './operation-parts.ts';

const send: ZodOpenApiOperationObject = {
  tags: ['Sending'],
  summary: 'Send events, or a webhook request',
  description:
    'With an event key: one event or an array of events; all are accepted or none. ' +
    "With a webhook's key: any body; its transform makes the event. Ids come in the order of the events.",
  requestParams: {
    path: z.object({ key: z.string().meta({ description: 'Event key, or the key of a webhook URL' }) }),
    header: environmentHeader,
  },
  requestBody: { required: true, content: json(z.union([eventSchema, z.array(eventSchema)])) },
  responses: {
    '200': { description: 'Accepted', content: json(z.object({ ids: z.array(z.string()), status: z.literal(200) })) },
    ...failures([
      'event_invalid',
      'body_missing',
      'body_not_json',
      'body_invalid',
      'seed_invalid',
      'transform_failed',
      'key_unknown',
      'environment_missing',
      'environment_unknown',
      'environment_mismatch',
      'environment_archived',
      'ip_refused',
      'event_refused',
      'webhook_paused',
      'body_too_large',
      'content_type_unsupported',
      'content_encoding_unsupported',
      'transform_quarantined',
      ...NOT_NOW,
      'unavailable',
      'internal',
    ]),
  },
  security: [],
};

const aliveSchema = z.object({ status: z.enum(['ok', 'unavailable']) });
const healthSchema = aliveSchema.extend({
  mode: z.enum(['dev', 'production']),
  redis: z.enum(['ok', 'unreachable']),
  intake: z.enum(['open', 'full']).meta({ description: 'full: senders are told to come later' }),
  uptime_seconds: z.int(),
});

function health(summary: string, schema: z.ZodType, mayFail: boolean): ZodOpenApiOperationObject {
  return {
    tags: ['Health'],
    summary,
    responses: {
      '200': { description: 'It is well', content: json(schema) },
      ...(mayFail && { '503': { description: 'It cannot reach Redis', content: json(schema) } }),
    },
    security: [],
  };
}

export const OPEN_PATHS: ZodOpenApiPathsObject = {
  '/e/{key}': { post: send },
  '/livez': { get: health('Is the process alive?', aliveSchema, false) },
  '/readyz': { get: health('Can it work?', aliveSchema, true) },
  '/health': { get: health('How is it?', healthSchema, true) },
};
