/** `GET /metrics` on the main port of web, for a Prometheus that has METRICS_TOKEN. */
import { checkMetricsToken } from '../../metrics/metrics-server.ts';
import type { ProcessMetrics } from '../../metrics/process-metrics.ts';
import { type Middleware, Router } from '../http/router.ts';

export function metricsEndpoint(metrics: ProcessMetrics, token: string): Middleware {
  const router = new Router();
  router.get('/metrics', async (ctx) => {
    checkMetricsToken(ctx.get('authorization'), token);
    const text = await metrics.scrape();
    ctx.set({ 'content-type': metrics.contentType, 'cache-control': 'no-store' });
    ctx.body = text;
  });
  return router.routes();
}

/** Without METRICS_TOKEN the path does not exist, even for signed-in users. */
export function noMetricsEndpoint(): Middleware {
  const router = new Router();
  // No response: the error handler answers with 404.
  router.get('/metrics', () => {});
  return router.routes();
}
