/** The operations outside the REST API: receiving events, health checks and the docs. They need no API key. */
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { DUTY_STATES } from '../../duties/loop.ts';
import { BACKPRESSURE_ERRORS } from '../../errors.ts';
import { sentEventSchema } from '../../model/events/sent-event.ts';
import { environmentHeader, failures, json } from './operation-parts.ts';

const send: ZodOpenApiOperationObject = {
  operationId: 'receiveEvents',
  tags: ['Sending'],
  summary: 'Send events or a webhook request',
  description:
    'With an event key: one event or an array of events; either all of them are accepted or none. ' +
    'With the key of a webhook: any body; the transform turns it into an event. The IDs are in the order of the events.',
  requestParams: {
    path: z.object({ key: z.string().describe('Event key, or the key in the URL of a webhook') }),
    header: environmentHeader,
  },
  requestBody: { required: true, content: json(z.union([sentEventSchema, z.array(sentEventSchema)])) },
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
      'environment_changed',
      'environment_archived',
      'ip_refused',
      'event_refused',
      'webhook_paused',
      'body_too_large',
      'content_encoding_unsupported',
      'transform_quarantined',
      ...BACKPRESSURE_ERRORS,
      'unavailable',
      'internal',
    ]),
  },
  security: [],
};

const statusSchema = z.object({ status: z.enum(['ok', 'unavailable']) });
const readySchema = statusSchema.extend({
  duties: z
    .array(z.object({ name: z.string(), state: z.enum(DUTY_STATES) }))
    .describe('Work that the process repeats; `starting`: no round has ended yet'),
});
const healthSchema = statusSchema.extend({
  mode: z.enum(['dev', 'production']),
  redis: z.enum(['ok', 'unreachable']),
  intake: z.enum(['open', 'full']).describe('full: requests are rejected with 429 or 503 and `Retry-After`'),
  uptime_seconds: z.int(),
});

function health(operationId: string, summary: string, schema: z.ZodType, mayFail: boolean): ZodOpenApiOperationObject {
  return {
    operationId,
    tags: ['Health'],
    summary,
    responses: {
      '200': { description: 'Healthy', content: json(schema) },
      ...(mayFail && { '503': { description: 'Redis is unreachable', content: json(schema) } }),
    },
    security: [],
  };
}

function page(operationId: string, summary: string, type: string, parameters?: z.ZodObject): ZodOpenApiOperationObject {
  return {
    operationId,
    tags: ['Docs'],
    summary,
    ...(parameters && { requestParams: { path: parameters } }),
    responses: {
      '200': { description: 'The page', content: { [type]: { schema: { type: 'string' } } } },
      ...(parameters && failures(['not_found'])),
    },
    security: [],
  };
}

const pageName = z.object({ page: z.string().describe('Name of a page in `/llms.txt`, such as `events.md`') });

export const HEALTH_CHECKS = { '/livez': statusSchema, '/readyz': readySchema, '/health': healthSchema };

export const OPEN_PATHS: ZodOpenApiPathsObject = {
  '/e/{key}': { post: send },
  '/livez': { get: health('checkLiveness', 'Check whether the process is alive', statusSchema, false) },
  '/readyz': { get: health('checkReadiness', 'Check whether the process is ready', readySchema, true) },
  '/health': { get: health('getHealth', 'Get the health of the service', healthSchema, true) },
  '/llms.txt': { get: page('getDocsIndex', 'Get the index of the docs', 'text/plain') },
  '/docs/{page}': { get: page('getDocsPage', 'Get a page of the docs', 'text/markdown', pageName) },
};
