/** The operation of the live stream, whose answer is messages without end and not one document. */
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
      summary: 'Follow what happens, as it happens',
      description:
        `Server-sent events, at most four of a kind in a second, each with JSON. ${kinds} News are hints and may be lost: what is ` +
        'true, the other routes say. It ends when whoever asked may no longer read. News of webhooks and of the holding page do ' +
        'not go to a key that is held to an environment. Needs read access.',
      requestParams: { header: environmentHeader },
      responses: {
        '200': {
          description: 'It has begun',
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
