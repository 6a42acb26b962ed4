/** The operation of the live stream, whose response is a stream of messages. */
import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { type LiveKind, liveSchemas } from '../views/live.ts';
import { environmentHeader, failures } from './operation-parts.ts';

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
