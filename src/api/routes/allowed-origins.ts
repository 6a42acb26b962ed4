/** `/v1/allowed-origins`: the origins at which apps may register and endpoints are called (docs/security.md#addresses-of-apps). */
import { z } from 'zod';
import { quotaExceeded } from '../../model/apps/quotas.ts';
import { ORIGINS_MAX, originPatternsSchema } from '../../origin-patterns.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { longPageQuery, namePosition, sortedReply } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';

const allowedOriginsSchema = apiObject('AllowedOrigins', {
  app: z.string().describe('Name of the app, which may not have registered yet'),
  origins: z.array(z.string()).meta({ examples: [['https://shop-*-acme.example.app']] }),
});

const routes = routesOf({ tag: 'Apps', scope: 'environment' });

export function allowedOriginRoutes({ allowedOrigins, quotas }: ApiParts): Route[] {
  return [
    routes.get('/v1/allowed-origins', {
      operationId: 'listAllowedOrigins',
      summary: 'List the allowed origins of apps',
      description:
        'By app. Apps without allowed origins are not listed. The setting APP_ORIGINS adds origins for all apps and environments.',
      query: z.object(longPageQuery(namePosition)),
      data: z.array(allowedOriginsSchema),
      async handle({ env, query }) {
        const all = [...(await allowedOrigins.all(env))].map(([app, origins]) => ({ app, origins }));
        const sorted = all.sort((a, b) => (a.app < b.app ? -1 : 1));
        return sortedReply(sorted, 'app', query, (app) => app);
      },
    }),
    routes.put('/v1/allowed-origins/:app', {
      operationId: 'setAllowedOrigins',
      summary: 'Set the allowed origins of an app',
      description:
        'The app may register by itself at these origins, and the service calls endpoints there. An origin is scheme, host and port; `*` stands for a part of a ' +
        'label, as in `https://shop-*-acme.example.app`. An empty list removes all.',
      params: z.object({ app: z.string().min(1).max(128) }),
      body: z.object({
        origins: originPatternsSchema.describe(`At most ${ORIGINS_MAX}`),
      }),
      data: allowedOriginsSchema,
      errors: ['quota_exceeded'],
      async handle({ env, params: { app }, body: { origins } }) {
        const known = await allowedOrigins.all(env);
        if (origins.length > 0 && !known.has(app) && known.size >= quotas.apps) {
          const what = `The environment "${env}" has allowed origins of ${known.size} apps`;
          throw quotaExceeded('apps', quotas.apps, known.size, what, 'Remove those of apps that are no longer used');
        }
        await allowedOrigins.set(env, app, origins);
        return { data: { app, origins } };
      },
    }),
  ];
}
