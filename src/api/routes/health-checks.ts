/** `/v1/health/checks`: problems of the installation, and how to fix them. */
import { z } from 'zod';
import { iso } from '../../model/values/time.ts';
import { apiObject, textOrNull } from '../http/validation.ts';
import { CHECK_STATUSES } from '../operations/health-checks/check.ts';
import { HealthChecks } from '../operations/health-checks/health-checks.ts';
import { installationChecks } from '../operations/health-checks/installation-checks.ts';
import { processChecks } from '../operations/health-checks/process-checks.ts';
import { redisChecks } from '../operations/health-checks/redis-checks.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, routesOf } from '../rest/route.ts';

const status = z.enum(CHECK_STATUSES);

export const healthSchema = apiObject('Health', {
  status: status.describe('The worst status of all checks'),
  mode: z.enum(['dev', 'production']),
  public_url: textOrNull.describe('The setting PUBLIC_URL'),
  time: z.iso.datetime().describe('Time of the clock of the web process that responds'),
  checks: z.array(
    z.object({
      id: z.string().meta({ description: 'A check with several findings is listed several times', example: 'redis' }),
      status: status.describe(
        'problem: something does not work, or accepted events may be lost; warning: it works, and something should be fixed',
      ),
      message: z.string(),
      remedy: textOrNull.describe('How to fix it; null: nothing needs to be fixed'),
    }),
  ),
});

const routes = routesOf({ tag: 'Overview', scope: 'all-environments' });

export function healthCheckRoutes(deps: ApiParts): Route[] {
  const { config, redis } = deps;
  let checks: HealthChecks | undefined;
  const create = () =>
    new HealthChecks([...redisChecks(redis, config), ...processChecks(deps), ...installationChecks(deps)]);
  return [
    routes.get('/v1/health/checks', {
      operationId: 'listHealthChecks',
      summary: 'Run all health checks',
      description:
        'Redis, processes, queues, runs, archive, settings and webhooks: problems, and how to fix them. Each check takes at most two seconds.',
      data: healthSchema,
      async handle() {
        const now = Date.now();
        checks ??= create();
        const { status, checks: found } = await checks.run(now);
        return {
          data: {
            status,
            mode: config.dev ? ('dev' as const) : ('production' as const),
            public_url: config.publicUrl ?? null,
            time: iso(now),
            checks: found.map(({ id, status, message, remedy = null }) => ({ id, status, message, remedy })),
          },
        };
      },
    }),
  ];
}
