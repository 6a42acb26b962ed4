/** `GET /metrics`: what Prometheus comes for. */
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { ServiceError } from '../errors.ts';
import { sameSecret } from '../functions/signing.ts';
import type { Instruments } from '../instruments/instruments.ts';
import { bearerOf } from './identity/callers.ts';

/** @param token whoever asks must show it; undefined: nobody need show anything */
export function metricsDoor(instruments: Instruments, token: string | undefined): Middleware {
  const router = new Router();
  router.get('/metrics', async (ctx) => {
    if (token !== undefined) demandToken(ctx as unknown as Context, token);
    const text = await instruments.scrape();
    ctx.set({ 'content-type': instruments.contentType, 'cache-control': 'no-store' });
    ctx.body = text;
  });
  return router.routes() as Middleware;
}

/** Where there is no token nobody can show one: to a stranger there is nothing here, as there is to those who may see the rest. */
export function noMetricsDoor(): Middleware {
  const router = new Router();
  // Left without an answer, which the funnel knows what to make of.
  router.get('/metrics', () => {});
  return router.routes() as Middleware;
}

/** @throws ServiceError credentials_invalid */
function demandToken(ctx: Context, token: string): void {
  const given = bearerOf(ctx);
  if (given !== undefined && sameSecret(given, token)) return;
  throw new ServiceError('credentials_invalid', { detail: 'send "Authorization: Bearer <METRICS_TOKEN>"' });
}
