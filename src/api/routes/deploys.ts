/** `/v1/deploys`: lists when apps changed, and what changed. */
import { z } from 'zod';
import { timeSchema } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { listReply, namePosition, pageOfNewest, pageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { deploySchema, presentDeploy } from '../views/deploy.ts';

const routes = routesOf({ tag: 'Apps', scope: 'environment' });

export function deployRoutes({ deploys, functions }: ApiParts): Route[] {
  return [
    routes.get('/v1/deploys', {
      operationId: 'listDeploys',
      summary: 'List deploys',
      description:
        'Newest first. A registration is a deploy when it changes something: functions, their configuration, the URL, the SDK, or the ID of the ' +
        'build. Deploys are kept for 90 days, or for the retention if that is longer: the last 100 of an app and the last 500 of an environment.',
      query: z.object({
        app: z.string().max(128).optional().describe('Name of an app'),
        function_id: z.string().max(256).optional().describe('ID of a function, to select deploys of its app'),
        from: timeSchema.optional().describe('Inclusive'),
        to: timeSchema.optional().describe('Exclusive'),
        ...pageQuery(namePosition),
      }),
      data: z.array(deploySchema),
      async handle({ env, query: { app, function_id: functionId, from = 0, to = Number.POSITIVE_INFINITY, ...at } }) {
        const owner = functionId === undefined ? app : (await functions.read(env, functionId))?.app;
        const isUnknown = functionId !== undefined && (owner === undefined || (app !== undefined && app !== owner));
        const all = isUnknown ? [] : await deploys.list(env, owner);
        const asked = all.filter((deploy) => deploy.at >= from && deploy.at < to);
        const sorted = asked.sort((a, b) => (a.id < b.id ? 1 : -1));
        const { page, next } = pageOfNewest(sorted, ({ id }) => id, at);
        return listReply(page, { present: presentDeploy, positionOf: ({ id }) => id, next });
      },
    }),
  ];
}
