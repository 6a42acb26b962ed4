/** `/v1/settings`: the settings with which the service was started. */
import { z } from 'zod';
import { apiObject, textOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { countedReply, countPosition, longPageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';

export const settingSchema = apiObject('Setting', {
  name: z.string().describe('Name of the environment variable'),
  group: z.string().describe('Its heading in docs/settings.md, such as Redis'),
  value: textOrNull.describe('The effective value; null: none, or a secret'),
  default: textOrNull,
  meaning: z.string(),
  is_set: z.boolean(),
  secret: z.boolean().describe('The value is never shown'),
});

const routes = routesOf({ tag: 'Installation', scope: 'installation' });

export function settingRoutes({ settings }: ApiParts): Route[] {
  return [
    routes.get('/v1/settings', {
      access: 'admin',
      operationId: 'listSettings',
      summary: 'List settings',
      description:
        'The settings of the web process that responds. Change them in its environment variables. Secrets are not shown.',
      query: z.object(longPageQuery(countPosition)),
      data: z.array(settingSchema),
      async handle({ query }) {
        return countedReply(settings, query, ({ isSet, ...setting }) => ({ ...setting, is_set: isSet }));
      },
    }),
  ];
}
