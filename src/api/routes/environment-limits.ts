/** `PATCH /v1/environments/:name/limits`: the limits of one environment. */

import { z } from 'zod';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { describe } from '../../model/values/json.ts';
import { DAY_MS, HOUR_MS } from '../../model/values/time.ts';
import { wholeBetween } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { environmentSchema, presentEnvironment } from './environments.ts';
import { maxBytesSchema } from './installation-limits.ts';

const retentionSchema = wholeBetween(1, 3_650)
  .nullable()
  .optional()
  .describe(
    'Number of days, from 1 to 3650, for which events and ended runs are kept; null: the setting RETENTION_DAYS; absent: unchanged. Requires an ' +
      'archive. Fewer days hide older events and runs at once, and delete them within two hours; this cannot be undone',
  );

const routes = routesOf({ tag: 'Environments', scope: 'installation' });

export function environmentLimitRoutes({ environments, config: { archive } }: ApiParts): Route[] {
  return [
    routes.patch('/v1/environments/:name/limits', {
      formerMethod: 'put',
      access: 'admin',
      operationId: 'updateEnvironmentLimits',
      summary: 'Update the limits of an environment',
      description:
        'The limit of an event key takes precedence, then that of the environment, then that of the installation.',
      body: z.object({ event_max_bytes: maxBytesSchema.nullable().optional(), retention_days: retentionSchema }),
      data: environmentSchema,
      errors: ['environment_unknown', 'input_invalid'],
      async handle({ params: { name }, body: { event_max_bytes, retention_days } }) {
        if (typeof retention_days === 'number') checkRetention(retention_days, archive);
        const changed = await environments.change(name, ({ eventMaxBytes, retentionDays, ...environment }) => {
          const bytes = event_max_bytes === undefined ? eventMaxBytes : (event_max_bytes ?? undefined);
          const days = retention_days === undefined ? retentionDays : (retention_days ?? undefined);
          return {
            ...environment,
            ...(bytes !== undefined && { eventMaxBytes: bytes }),
            ...(days !== undefined && { retentionDays: days }),
          };
        });
        if (!changed) throw new ServiceError('environment_unknown', { detail: `got ${describe(name)}` });
        return { data: presentEnvironment(changed) };
      },
    }),
  ];
}

/** @throws ServiceError input_invalid */
function checkRetention(days: number, archive: Config['archive']): void {
  if (!archive) {
    const detail =
      'retention_days needs an archive: without one, Redis keeps everything, for RETENTION_DAYS in all environments. ' +
      'Set DATABASE_URL to a Postgres, or change RETENTION_DAYS';
    throw new ServiceError('input_invalid', { detail });
  }
  if (days * DAY_MS >= archive.hotMs) return;
  throw new ServiceError('input_invalid', {
    detail: `retention_days is ${days}, but events are archived only after HOT_HOURS (${archive.hotMs / HOUR_MS}); lower that first`,
  });
}
