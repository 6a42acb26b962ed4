/** `/v1/account/limits`: the limits of the installation. */
import { z } from 'zod';
import { EVENT_LIMIT_MAX_BYTES } from '../../store/environments/event-limits.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, route } from '../rest/route.ts';

export const maxBytesSchema = z.int().min(1).max(EVENT_LIMIT_MAX_BYTES).meta({
  description:
    'Largest request body in bytes; null: the next wider limit: that of the environment, of the installation, then the setting EVENT_MAX_BYTES',
});

export const limitsSchema = z
  .object({
    event_max_bytes: maxBytesSchema.nullable(),
    default_event_max_bytes: z.int().meta({ description: 'The setting EVENT_MAX_BYTES' }),
  })
  .meta({ id: 'InstallationLimits' });

export function installationLimitRoutes({ installationLimits, eventMaxBytes }: ApiParts): Route[] {
  const tag = 'Installation';
  const path = '/v1/account/limits';
  const scope = 'installation';
  return [
    route({
      method: 'get',
      path,
      tag,
      access: 'read',
      scope,
      operationId: 'getInstallationLimits',
      summary: 'Get the limits of the installation',
      data: limitsSchema,
      errors: [],
      async handle() {
        const limits = await installationLimits.readLimits();
        return { data: { event_max_bytes: limits.eventMaxBytes ?? null, default_event_max_bytes: eventMaxBytes } };
      },
    }),
    route({
      method: 'patch',
      formerMethod: 'put',
      path,
      tag,
      access: 'admin',
      scope,
      operationId: 'updateInstallationLimits',
      summary: 'Update the limits of the installation',
      body: z.object({ event_max_bytes: maxBytesSchema.nullable() }),
      data: limitsSchema,
      errors: [],
      async handle({ body: { event_max_bytes } }) {
        await installationLimits.saveLimits({ eventMaxBytes: event_max_bytes ?? undefined });
        return { data: { event_max_bytes, default_event_max_bytes: eventMaxBytes } };
      },
    }),
  ];
}
