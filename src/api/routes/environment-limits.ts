/** `PUT /v1/environments/:name/limits`: the limits of one environment. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { describe } from '../../model/values/json.ts';
import type { Environments } from '../../store/environments/environments.ts';
import { type Route, route } from '../rest/route.ts';
import { environmentSchema, presentEnvironment } from './environments.ts';
import { maxBytesSchema } from './installation-limits.ts';

export interface EnvironmentLimitRouteDeps {
  environments: Environments;
}

export function environmentLimitRoutes({ environments }: EnvironmentLimitRouteDeps): Route[] {
  return [
    route({
      method: 'put',
      path: '/v1/environments/:name/limits',
      tag: 'Environments',
      access: 'admin',
      scope: 'installation',
      summary: 'Update the limits of an environment',
      description: 'The limit of an event key comes first, then this one, then that of the installation.',
      params: z.object({ name: z.string() }),
      body: z.object({ event_max_bytes: maxBytesSchema.nullable() }),
      data: environmentSchema,
      errors: ['environment_unknown'],
      async handle({ params: { name }, body: { event_max_bytes } }) {
        const changed = await environments.change(name, ({ eventMaxBytes: _, ...environment }) => ({
          ...environment,
          ...(event_max_bytes !== null && { eventMaxBytes: event_max_bytes }),
        }));
        if (!changed) throw new ServiceError('environment_unknown', { detail: `got ${describe(name)}` });
        return { data: presentEnvironment(changed) };
      },
    }),
  ];
}
