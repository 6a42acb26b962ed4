/** The OpenAPI 3.1 document, generated from the routes. */

import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import type { ErrorCode } from '../../errors.ts';
import { VERSION } from '../../version.ts';
import { isOptional } from '../http/validation.ts';
import { IDEMPOTENCY_ERRORS } from '../rest/idempotency.ts';
import type { Route } from '../rest/route.ts';
import { stoppedEarlySchema } from '../views/incomplete.ts';
import { type LiveKind, liveSchemas } from '../views/live.ts';
import { environmentHeader, failures, idempotencyHeader, json } from './operation-parts.ts';
import { OPEN_PATHS } from './public-operations.ts';

/** Tags in the order of the documentation. */
const TAGS: Record<string, string> = {
  Sending: 'Receives events and webhook requests. The key in the path authenticates the sender.',
  Overview: 'The state of the service, its metrics, and live updates.',
  Events: 'Accepted events, stored for `RETENTION_DAYS`.',
  Runs: 'A run executes one function on one event.',
  Errors: 'Why runs fail: groups of failed runs that have the same error.',
  Replays: 'A replay runs functions again on past events.',
  Functions: 'Functions that apps have registered.',
  Destinations: 'URLs that get events or webhook requests, without an app.',
  Alerts: 'What is wrong, from when on people hear of it, and where.',
  Apps: 'Your programs that host functions. They register by themselves, or when asked to here.',
  Webhooks: 'URLs for providers. A transform turns each request into an event; a request log keeps the requests.',
  Views: 'Filters and columns of a list in the dashboard, saved under a name.',
  'Holding page': 'Webhook events without a valid environment. They trigger nothing until they are assigned to one.',
  Environments:
    'Each environment has its own events, functions, runs and deduplication IDs. Branch environments share keys and webhooks.',
  'Event keys': 'Secrets with which senders post events.',
  'Signing keys': 'Keys with which the service and apps authenticate each other.',
  'API keys': 'Secrets with which programs use this API.',
  Users: 'People who can sign in.',
  Installation: 'Limits and settings of the whole installation.',
  'Audit log': 'Who changed what, and rejected sign-ins.',
  Health: 'Health checks; they need no authentication.',
  Docs: 'The docs of this version as Markdown; they need no authentication.',
};

const metadataSchema = z.object({
  fetched_at: z.iso.datetime(),
  cached_until: z.null().optional().describe('Only in requests of official SDKs: responses are not cached'),
  cursor: z.string().optional(),
  total: z.int().optional().describe('Number of entries of all pages; only in lists that know it'),
  stopped_early: stoppedEarlySchema.optional(),
  dropped: z.int().optional().describe('For the log of a run: number of lines that were left out'),
  stopped_at: z.iso.datetime().optional().describe('Everything newer was examined'),
});

/** Errors that every route of the API may return. */
const COMMON: ErrorCode[] = ['credentials_invalid', 'access_denied', 'api_rate_exceeded', 'unavailable', 'internal'];
const CHANGING: ErrorCode[] = ['origin_untrusted'];
const WITH_ENVIRONMENT: ErrorCode[] = ['environment_unknown', 'environment_changed'];
const WITH_INPUT: ErrorCode[] = ['input_invalid'];
const WITH_BODY: ErrorCode[] = ['body_not_json', 'body_too_large', 'content_type_unsupported'];

export function openApi(routes: readonly Route[]): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = { ...OPEN_PATHS, ...STREAM_PATH };
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operation(route) };
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Tidegate',
      version: VERSION,
      description:
        'Receives events and webhooks durably and runs functions on them. Responses have `data` and `metadata`. When `metadata.cursor` is ' +
        'present, pass it as the query parameter `cursor` to get the next page.',
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key' },
        session: { type: 'apiKey', in: 'cookie', name: 'session', description: 'The session of a signed-in user' },
      },
    },
  });
}

function operation(route: Route): ZodOpenApiOperationObject {
  const input = route.params || route.query || route.body;
  const codes = [
    ...route.errors,
    ...COMMON,
    ...(input ? WITH_INPUT : []),
    ...(route.body ? WITH_BODY : []),
    ...(route.method === 'get' ? [] : CHANGING),
    ...(route.method === 'post' ? IDEMPOTENCY_ERRORS : []),
    ...(route.scope === 'environment' ? WITH_ENVIRONMENT : []),
  ];
  const ofEnvironment = route.scope === 'environment' ? environmentHeader : undefined;
  const header = route.method === 'post' ? idempotencyHeader.extend(ofEnvironment?.shape ?? {}) : ofEnvironment;
  const content = contentOf(route);
  const success = { description: 'Success', ...(content && { content }) };
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, `Requires ${route.access} access.`].filter(Boolean).join(' '),
    requestParams: {
      ...(route.params && { path: route.params }),
      ...(route.query && { query: route.query }),
      ...(header && { header }),
    },
    ...(route.body && {
      requestBody: { required: !isOptional(route.body), content: json(route.body) },
    }),
    responses: {
      [String(route.status ?? (content ? 200 : 204))]: success,
      ...(route.dryRunStatus && { [String(route.dryRunStatus)]: success }),
      ...failures(codes),
    },
    security: [{ apiKey: [] }, { session: [] }],
  } as ZodOpenApiOperationObject;
}

function contentOf({ data, file }: Route) {
  if (file !== undefined) return { [file]: { schema: { type: 'string' as const, format: 'binary' } } };
  return data && json(z.object({ data, metadata: metadataSchema }));
}

const kinds = (Object.keys(liveSchemas) as LiveKind[])
  .map((kind) => `\`${kind}\`: ${liveSchemas[kind].meta()?.description}.`)
  .join(' ');

export const STREAM_PATH: ZodOpenApiPathsObject = {
  '/v1/stream': {
    get: {
      tags: ['Overview'],
      operationId: 'streamLiveUpdates',
      summary: 'Stream live updates',
      description:
        `Server-sent events with JSON data, at most four messages of a kind per second. ${kinds} Updates are hints and may be lost: ` +
        'read the data from the other routes. The stream ends when the principal loses its access. A key that is restricted to an ' +
        'environment gets no updates of webhooks and of the holding page. Requires read access.',
      requestParams: { header: environmentHeader },
      responses: {
        '200': {
          description: 'The stream',
          content: {
            'text/event-stream': {
              schema: z.string().meta({ examples: ['event: held-events\ndata: {"count":1}\n\n'] }),
            },
          },
        },
        ...failures([
          'credentials_invalid',
          'access_denied',
          'environment_unknown',
          'overloaded',
          'unavailable',
          'internal',
        ]),
      },
      security: [{ apiKey: [] }, { session: [] }],
    },
  },
};
