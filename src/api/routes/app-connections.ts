/** `/v1/apps/:name/connections`: lists and ends the live connections of an app that connects (docs/connect.md). */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { Connection } from '../../model/apps/connection.ts';
import { machineTime } from '../../model/values/clock.ts';
import { existingApp } from '../apps/existing.ts';
import { apiObject, textOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { countedReply, countPosition, longPageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { present } from '../views/present.ts';

export const connectionSchema = apiObject('Connection', {
  id: z.string(),
  instance_id: z.string().describe('Name of the instance, by default its host name'),
  app_version: textOrNull,
  sdk: z.string().describe('Name and version of its SDK'),
  status: z
    .enum(['connecting', 'ready', 'paused'])
    .describe('`ready`: the connection gets calls; `paused`: it gets no new calls and finishes its calls in progress'),
  calls: z.int().describe('Calls in progress'),
  concurrency: z.int().describe('Maximum number of calls in progress'),
  connected_at: z.iso.datetime(),
  heartbeat_at: z.iso.datetime().describe('Time of the last heartbeat; lags by at most 5 s'),
});

const routes = routesOf({ tag: 'Apps', scope: 'environment' });

export function appConnectionRoutes({ apps, connections }: ApiParts): Route[] {
  return [
    routes.get('/v1/apps/:name/connections', {
      operationId: 'listAppConnections',
      summary: 'List the connections of an app',
      description: 'Longest connected first. Only apps that connect have connections.',
      query: z.object(longPageQuery(countPosition)),
      data: z.array(connectionSchema),
      async handle({ env, params: { name }, query }) {
        await existingApp(apps, env, name);
        const live = await connections.ofApp(env, name, machineTime());
        return countedReply(live, query, ({ connection, calls }) => presentConnection(connection, name, calls));
      },
    }),
    routes.delete('/v1/apps/:name/connections/:id', {
      operationId: 'endAppConnection',
      summary: 'End a connection of an app',
      description:
        'The connection gets no more calls, of any app that it serves, and its WebSocket is closed within 5 s. An instance with a valid signing key connects again and continues its calls in progress.',
      async handle({ env, params: { name, id } }) {
        if (await connections.end(env, name, id)) return {};
        throw new ServiceError('not_found', { detail: `the app "${name}" has no live connection with the ID "${id}"` });
      },
    }),
  ];
}

function presentConnection(connection: Connection, app: string, calls: number) {
  const version = connection.apps.find(({ name }) => name === app)?.version;
  return present(connectionSchema, { ...connection, appVersion: version, calls });
}
