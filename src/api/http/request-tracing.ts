/** A span for each request to the API, to /e/ among it; not for pages, files and probes. It is named by its route: a path may hold a key. */
import type { Context, Middleware, Next } from 'koa';
import type { Tracing } from '../../tracing/tracing.ts';

const TRACED = /^\/(e|v0|v1|fn)\//;

/** After the request has its ID, around where errors become answers. */
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
        'tidegate.request.id': ctx.state.requestId as string,
        ...(route && { 'http.route': route, 'url.path': route }),
      });
      if (route) span.updateName(`${method} ${route}`);
      if (status >= 500) tracing.markFailed(span, String(status));
    });
  };
}
