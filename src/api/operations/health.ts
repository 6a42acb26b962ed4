/** Is the process alive, can it work, and how is it? Open to everyone, and tells nothing that is secret. */
import type Router from '@koa/router';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Readiness } from './readiness.ts';

export function healthRoutes(
  router: Router,
  readiness: Readiness,
  pressure: Backpressure,
  mode: 'dev' | 'production',
): void {
  router.get('/livez', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    const up = await readiness.ready();
    ctx.status = up ? 200 : 503;
    ctx.body = { status: up ? 'ok' : 'unavailable' };
  });
  router.get('/health', async (ctx) => {
    const up = await readiness.healthy();
    ctx.status = up ? 200 : 503;
    ctx.body = {
      status: up ? 'ok' : 'unavailable',
      mode,
      redis: up ? 'ok' : 'unreachable',
      intake: pressure.full ? 'full' : 'open',
      uptime_seconds: Math.floor(process.uptime()),
    };
  });
}
