/** `/v1/settings`: what the service was started with. */
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { type Route, route } from '../rest/route.ts';

export const settingSchema = z
  .object({
    name: z.string().meta({ description: 'Of the environment variable' }),
    value: z.string().nullable().meta({ description: 'What holds, set or by default; null: nothing, or a secret' }),
    default: z.string().nullable(),
    meaning: z.string(),
    is_set: z.boolean(),
    secret: z.boolean().meta({ description: 'Its value is never shown' }),
  })
  .meta({ id: 'Setting' });

export function settingRoutes({ config }: { config: Pick<Config, 'settings'> }): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/settings',
      tag: 'Account',
      access: 'admin',
      about: 'account',
      summary: 'List the settings that the service was started with',
      description:
        'Of the web process that answers. Settings are changed in its environment, not here. Secrets are not shown.',
      data: z.array(settingSchema),
      errors: [],
      async handle() {
        return { data: config.settings.map(({ isSet, ...setting }) => ({ ...setting, is_set: isSet })) };
      },
    }),
  ];
}
