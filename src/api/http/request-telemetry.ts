/** Metrics and a trace span for each request. Both name the route's template, never the path: paths contain keys, and are unlimited in
 *  number. */
import type { Next } from 'koa';
import type { MetricsRecorder } from '../../metrics/recorder.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import { BOARD_PATH, isBoard } from './board-path.ts';
import type { Context, Middleware } from './router.ts';

/** Requests without a route: the dashboard, its files, and paths that do not exist. */
const OTHER = 'other';

/** Requests of the API, including `/e/`; pages, files and health checks are not traced. */
const TRACED = /^\/(e|v0|v1|fn)\//i;

/** Runs before all other middleware, so that it sees the final response. */
export function recordRequestMetrics(metrics: MetricsRecorder): Middleware {
  return async (ctx: Context, next: Next) => {
    const startedAt = performance.now();
    await next();
    const route = routeOf(ctx);
    metrics.httpRequest(ctx.method, route, ctx.status, performance.now() - startedAt);
    if (ctx.status >= 400) metrics.httpError(route, ctx.state.errorCode ?? OTHER);
  };
}

/** Runs after the request has its ID, and before the error handler. */
export function traceRequests(tracing: Tracing): Middleware {
  return async (ctx: Context, next: Next) => {
    if (!TRACED.test(ctx.path)) return next();
    await tracing.traceRequest(ctx.req.headers, ctx.method, async (span) => {
      await next();
      if (!span) return;
      const { status, method } = ctx;
      const route = ctx._matchedRoute as string | undefined;
      span.setAttributes({
        'url.scheme': ctx.protocol,
        'http.response.status_code': status,
        'tidegate.request.id': ctx.state.requestId,
        ...(route && { 'http.route': route, 'url.path': route }),
      });
      if (route) span.updateName(`${method} ${route}`);
      if (status >= 500) tracing.markFailed(span, String(status));
    });
  };
}

function routeOf(ctx: Context): string {
  // Bull Board's routes do not include its prefix.
  if (isBoard(ctx.path)) return BOARD_PATH;
  return typeof ctx._matchedRoute === 'string' ? ctx._matchedRoute : OTHER;
}
