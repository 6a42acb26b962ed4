/** The OpenAPI 3.1 document, made from the routes that serve. */
import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { ErrorCode } from '../../errors.ts';
import type { Route } from '../rest/route.ts';
import { environmentHeader, failures, json } from './operation-parts.ts';
import { OPEN_PATHS } from './public-operations.ts';
import { STREAM_PATH } from './stream-operation.ts';

/** In the order in which they are read. */
const TAGS: Record<string, string> = {
  Sending: 'Where events and webhooks come in. The key in the path is all that a sender needs.',
  Overview: 'How the service is, what was counted, and what happens right now.',
  Events: 'What has come in, kept for `RETENTION_DAYS`.',
  Runs: 'One function working on one event, from its creation to its end.',
  Functions: 'What apps have registered.',
  Apps: 'Your programs that hold functions. They register themselves, or are told to here.',
  Webhooks: 'URLs for providers, each with a transform that makes events of requests, and with a log of those.',
  'Holding page':
    'Events of webhooks that could be given to no environment. They trigger nothing until they are assigned.',
  Environments: 'Each has its own events, functions, runs and deduplication IDs; branches share keys and webhooks.',
  'Event keys': 'Secrets that may send events.',
  'Signing keys': 'By which service and apps prove themselves to each other.',
  'API keys': 'Secrets that may use this API.',
  Users: 'People who may sign in.',
  Account: 'What holds for all environments.',
  'Audit log': 'Who changed what.',
  Health: 'Open to everyone.',
};

const metadataSchema = z.object({ fetched_at: z.iso.datetime(), cursor: z.string().optional() });

/** Errors that any route of the API may answer with. */
const COMMON: ErrorCode[] = ['credentials_invalid', 'access_denied', 'unavailable', 'internal'];
const CHANGING: ErrorCode[] = ['origin_untrusted'];
const WITH_ENVIRONMENT: ErrorCode[] = ['environment_unknown'];
const WITH_INPUT: ErrorCode[] = ['input_invalid'];
const WITH_BODY: ErrorCode[] = ['body_not_json', 'body_too_large', 'content_type_unsupported'];

export function openApi(routes: readonly Route[]): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = { ...OPEN_PATHS, ...STREAM_PATH };
  for (const one of routes) {
    const path = one.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [one.method]: operation(one) };
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Tidegate',
      version: '0.1.0',
      description:
        'Takes events and webhooks in, loses none, and runs functions on them. Answers have `data` and `metadata`; where ' +
        '`metadata.cursor` is there, the next page is read with it as the query parameter `cursor`.',
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key' },
        session: { type: 'apiKey', in: 'cookie', name: 'session', description: 'Of a user who has signed in' },
      },
    },
  });
}

function operation(one: Route): ZodOpenApiOperationObject {
  const input = one.params || one.query || one.body;
  const codes = [
    ...one.errors,
    ...COMMON,
    ...(input ? WITH_INPUT : []),
    ...(one.body ? WITH_BODY : []),
    ...(one.method === 'get' ? [] : CHANGING),
    ...(one.about === 'environment' ? WITH_ENVIRONMENT : []),
  ];
  const success = one.data
    ? { description: 'Done', content: json(z.object({ data: one.data, metadata: metadataSchema })) }
    : { description: 'Done' };
  return {
    tags: [one.tag],
    summary: one.summary,
    description: [one.description, `Needs ${one.access} access.`].filter(Boolean).join(' '),
    requestParams: {
      ...(one.params && { path: one.params }),
      ...(one.query && { query: one.query }),
      ...(one.about === 'environment' && { header: environmentHeader }),
    },
    ...(one.body && { requestBody: { required: true, content: json(one.body) } }),
    responses: { [String(one.status ?? (one.data ? 200 : 204))]: success, ...failures(codes) },
    security: [{ apiKey: [] }, { session: [] }],
  } as ZodOpenApiOperationObject;
}
