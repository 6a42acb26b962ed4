/** `/v1/apps/:name/connections`: lists and ends the live connections of an app that connects (docs/connect.md). */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { Connection } from '../../model/apps/connection.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { countPosition, longPageQuery } from '../rest/list-query.ts';
import { countedReply } from '../rest/list-response.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { time } from '../views/time.ts';

export const connectionSchema = apiObject('Connection', {
  id: z.string(),
  instance_id: z.string().describe('Name of the process of the app, by default its host name'),
  app_version: z.string().nullable(),
  sdk: z.string().describe('Name and version of its SDK'),
  status: z
    .enum(['connecting', 'ready', 'paused'])
    .describe('`ready`: it gets calls; `paused`: it gets no more, and finishes those that it has'),
  calls: z.int().describe('Calls in progress'),
  concurrency: z.int().describe('Most calls in progress'),
  connected_at: z.iso.datetime(),
  heartbeat_at: z.iso.datetime().describe('The last heartbeat; 5 s late at most'),
});

const routes = routesOf({ tag: 'Apps', scope: 'environment' });

export function appConnectionRoutes({ apps, connections }: ApiParts): Route[] {
  return [
    routes.get('/v1/apps/:name/connections', {
      operationId: 'listAppConnections',
      summary: 'List the connections of an app',
      description: 'Of an app that connects; the longest connected first. Other apps have none.',
      query: z.object(longPageQuery(countPosition)),
      data: z.array(connectionSchema),
      async handle({ env, params: { name }, query }) {
        if (!(await apps.read(env, name))) {
          throw new ServiceError('not_found', { detail: `there is no app named "${name}"` });
        }
        const live = await connections.ofApp(env, name, Date.now());
        return countedReply(live, query, ({ connection, calls }) => present(connection, name, calls));
      },
    }),
    routes.delete('/v1/apps/:name/connections/:id', {
      operationId: 'endAppConnection',
      summary: 'End a connection of an app',
      description:
        'It gets no more calls from now on, also of other apps that it serves, and its WebSocket is closed within 5 s. The instance connects again, if its signing key is valid, and continues the calls that it has.',
      async handle({ env, params: { name, id } }) {
        if (await connections.end(env, name, id)) return {};
        throw new ServiceError('not_found', { detail: `the app "${name}" has no live connection with the ID "${id}"` });
      },
    }),
  ];
}

function present(connection: Connection, app: string, calls: number) {
  const { id, instanceId, sdk, status, concurrency, connectedAt, heartbeatAt, apps } = connection;
  return {
    id,
    instance_id: instanceId,
    app_version: apps.find(({ name }) => name === app)?.version ?? null,
    sdk,
    status,
    calls,
    concurrency,
    connected_at: time(connectedAt),
    heartbeat_at: time(heartbeatAt),
  };
}
