/** Health checks: whether the process is alive and can accept requests, and its state. They need no authentication and reveal nothing
 *  secret. */
import type { DutyRunner } from '../../duties/runner.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Router } from '../http/router.ts';
import type { Readiness } from './readiness.ts';

export interface HealthRouteDeps {
  readiness: Readiness;
  duties: Pick<DutyRunner, 'states'>;
  backpressure: Backpressure;
  dev: boolean;
}

export function healthRoutes(router: Router, { readiness, duties, backpressure, dev }: HealthRouteDeps): void {
  router.get('/livez', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const up = await readiness.ready();
    ctx.status = up ? 200 : 503;
    ctx.body = { status: up ? 'ok' : 'unavailable', duties: duties.states };
  });
  router.get('/health', async (ctx) => {
    const up = await readiness.healthy();
    ctx.status = up ? 200 : 503;
    ctx.body = {
      status: up ? 'ok' : 'unavailable',
      mode: dev ? 'dev' : 'production',
      redis: up ? 'ok' : 'unreachable',
      intake: backpressure.full ? 'full' : 'open',
      uptime_seconds: Math.floor(process.uptime()),
    };
  });
}
