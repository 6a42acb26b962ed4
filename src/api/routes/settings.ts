/** `/v1/settings`: the settings with which the service was started. */
import { z } from 'zod';
import type { ApiParts } from '../parts.ts';
import { countPosition, longPageQuery, pageFrom } from '../rest/list-query.ts';
import { listReply } from '../rest/list-response.ts';
import { type Route, route } from '../rest/route.ts';

export const settingSchema = z
  .object({
    name: z.string().meta({ description: 'Name of the environment variable' }),
    value: z.string().nullable().meta({ description: 'The effective value; null: none, or a secret' }),
    default: z.string().nullable(),
    meaning: z.string(),
    is_set: z.boolean(),
    secret: z.boolean().meta({ description: 'The value is never shown' }),
  })
  .meta({ id: 'Setting' });

export function settingRoutes({ settings }: ApiParts): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/settings',
      tag: 'Installation',
      access: 'admin',
      scope: 'installation',
      operationId: 'listSettings',
      summary: 'List settings',
      description:
        'The settings of the web process that responds. Change them in its environment variables. Secrets are not shown.',
      query: z.object(longPageQuery(countPosition)),
      data: z.array(settingSchema),
      errors: [],
      async handle({ query }) {
        const { page, next } = pageFrom(settings, query);
        return listReply(page, {
          present: ([, { isSet, ...setting }]) => ({ ...setting, is_set: isSet }),
          positionOf: ([at]) => at,
          next,
        });
      },
    }),
  ];
}
