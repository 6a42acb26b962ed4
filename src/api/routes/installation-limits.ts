/** `/v1/account/limits`: the limits of the installation. */
import { z } from 'zod';
import { EVENT_LIMIT_MAX_BYTES } from '../../store/environments/event-limits.ts';
import { apiObject, wholeBetween } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, routesOf } from '../rest/route.ts';

export const maxBytesSchema = wholeBetween(1, EVENT_LIMIT_MAX_BYTES).describe(
  'Largest request body in bytes; null: the limit of the environment applies, then that of the installation, then the setting EVENT_MAX_BYTES',
);

export const limitsSchema = apiObject('InstallationLimits', {
  event_max_bytes: maxBytesSchema.nullable(),
  default_event_max_bytes: z.int().describe('The setting EVENT_MAX_BYTES'),
});

const routes = routesOf({ tag: 'Installation', scope: 'installation' });

export function installationLimitRoutes({ installationLimits, eventMaxBytes }: ApiParts): Route[] {
  const path = '/v1/account/limits';
  return [
    routes.get(path, {
      operationId: 'getInstallationLimits',
      summary: 'Get the limits of the installation',
      data: limitsSchema,
      async handle() {
        const limits = await installationLimits.readLimits();
        return { data: { event_max_bytes: limits.eventMaxBytes ?? null, default_event_max_bytes: eventMaxBytes } };
      },
    }),
    routes.patch(path, {
      formerMethod: 'put',
      access: 'admin',
      operationId: 'updateInstallationLimits',
      summary: 'Update the limits of the installation',
      body: z.object({ event_max_bytes: maxBytesSchema.nullable() }),
      data: limitsSchema,
      async handle({ body: { event_max_bytes } }) {
        await installationLimits.saveLimits({ eventMaxBytes: event_max_bytes ?? undefined });
        return { data: { event_max_bytes, default_event_max_bytes: eventMaxBytes } };
      },
    }),
  ];
}
