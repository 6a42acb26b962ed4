/** The OpenAPI 3.1 document, made from the routes that serve. */
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { CATALOGUE, type ErrorCode } from '../errors.ts';
import { eventSchema } from '../model/event.ts';
import type { Route } from './route.ts';

const errorSchema = z.object({ error: z.string(), code: z.string(), status: z.int() }).meta({
  id: 'Error',
  description: 'What was wrong, what was expected, how to mend it. code is one of docs/errors.md',
});

const metadataSchema = z.object({ fetched_at: z.iso.datetime(), cursor: z.string().optional() });

/** Errors that any route of the API may answer with. */
const COMMON: ErrorCode[] = ['credentials_invalid', 'unavailable', 'internal'];
const WITH_INPUT: ErrorCode[] = ['input_invalid'];
const WITH_BODY: ErrorCode[] = ['body_not_json', 'body_too_large', 'content_type_unsupported'];

export function openApi(routes: readonly Route[]): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = { '/e/{key}': { post: sendOperation } };
  for (const one of routes) {
    const path = one.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [one.method]: operation(one) };
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Tidegate',
      version: '0.1.0',
      description: 'Takes events and webhooks in, loses none, and runs functions on them.',
    },
    paths,
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'The setting API_KEY' } } },
  });
}

function operation(one: Route): ZodOpenApiOperationObject {
  const input = one.params || one.query || one.body;
  const codes = [...one.errors, ...COMMON, ...(input ? WITH_INPUT : []), ...(one.body ? WITH_BODY : [])];
  const success = one.data
    ? { description: 'Done', content: json(z.object({ data: one.data, metadata: metadataSchema })) }
    : { description: 'Done' };
  return {
    tags: [one.tag],
    summary: one.summary,
    ...(one.description && { description: one.description }),
    requestParams: { ...(one.params && { path: one.params }), ...(one.query && { query: one.query }) },
    ...(one.body && { requestBody: { required: true, content: json(one.body) } }),
    responses: { [String(one.status ?? (one.data ? 200 : 204))]: success, ...failures(codes) },
    security: [{ apiKey: [] }],
  } as ZodOpenApiOperationObject;
}

const sendOperation: ZodOpenApiOperationObject = {
  tags: ['Sending'],
  summary: 'Send events, or a webhook request',
  description:
    'With an event key: one event or an array of events; all are accepted or none. ' +
    "With a webhook's key: any body; its transform makes the event. Ids come in the order of the events.",
  requestParams: {
    path: z.object({ key: z.string().meta({ description: 'Event key, or the key of a webhook URL' }) }),
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
      'environment_mismatch',
      'body_too_large',
      'content_type_unsupported',
      'content_encoding_unsupported',
      'transform_quarantined',
      'overloaded',
      'unavailable',
      'internal',
    ]),
  },
  security: [],
};

/** One response a status, naming the codes that come with it. */
function failures(codes: ErrorCode[]) {
  const byStatus = Map.groupBy(new Set(codes), (code) => String(CATALOGUE[code][0]));
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => [
      status,
      { description: all.map((code) => `${code}: ${CATALOGUE[code][1]}`).join('. '), content: json(errorSchema) },
    ]),
  );
}

function json<S extends z.ZodType>(schema: S) {
  return { 'application/json': { schema } };
}
