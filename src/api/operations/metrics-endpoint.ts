/** `GET /metrics` on the ordinary port of web, for a Prometheus that has METRICS_TOKEN. */
import Router from '@koa/router';
import type { Middleware } from 'koa';
import { checkMetricsToken } from '../../metrics/metrics-server.ts';
import type { ProcessMetrics } from '../../metrics/process-metrics.ts';

export function metricsEndpoint(instruments: ProcessMetrics, token: string): Middleware {
  const router = new Router();
  router.get('/metrics', async (ctx) => {
    checkMetricsToken(ctx.get('authorization'), token);
    const text = await instruments.scrape();
    ctx.set({ 'content-type': instruments.contentType, 'cache-control': 'no-store' });
    ctx.body = text;
  });
  return router.routes() as Middleware;
}

/** Without a token the path does not exist, for strangers and for those who may read the rest. */
export function noMetricsEndpoint(): Middleware {
  const router = new Router();
  // Left without a response, which the error handler answers with 404.
  router.get('/metrics', () => {});
  return router.routes() as Middleware;
}
