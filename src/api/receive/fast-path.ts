/** The fast path of the requests that come most often, events and checkpoints: the steps of middleware and router in one function,
 *  mounted before them. It uses the same functions for rules, errors, metrics and traces. Successful responses lack the headers for
 *  pages; rejections have all headers. */
import { newId } from '../../model/ids.ts';
import type { Context, Middleware } from '../http/router.ts';
import { setSecurityHeaders } from '../http/security-headers.ts';

export interface FastRoute {
  /** Matches the path, and captures its parameter. The router handles all other spellings: in capitals, with a trailing slash, or with
   *  escaped characters. */
  path: RegExp;
  /** The route as the router names it, for metrics, traces and the log. */
  route: string;
  respond(ctx: Context, param: string): Promise<void>;
}

export interface FastPathDeps {
  publicUrl: string | undefined;
  /** Routes of POST requests. */
  routes: readonly FastRoute[];
  /** Middleware that runs before all other steps and sees the final response, outermost first. */
  observers: readonly Middleware[];
  /** @throws ServiceError for a request that dev mode rejects; undefined outside of dev mode */
  admit: ((ctx: Context) => void) | undefined;
  /** Responds to an error. */
  reject(ctx: Context, thrown: unknown): void;
  logDone(ctx: Context): void;
}

export function fastPath(deps: FastPathDeps): Middleware {
  const { observers, routes } = deps;
  return (ctx, next) => {
    const { method, url = '' } = ctx.req;
    if (method !== 'POST') return next();
    for (const found of routes) {
      const param = found.path.exec(url)?.[1];
      if (param === undefined) continue;
      ctx.state.requestId = newId();
      ctx._matchedRoute = found.route;
      if (observers.length === 0) return respond(ctx, param, found, deps);
      const observe = (i: number): unknown =>
        observers[i]?.(ctx, async () => observe(i + 1)) ?? respond(ctx, param, found, deps);
      return observe(0);
    }
    return next();
  };
}

async function respond(ctx: Context, param: string, route: FastRoute, deps: FastPathDeps): Promise<void> {
  try {
    // Parses the query, so that too many fields are rejected before anything reads them.
    if (ctx.req.url?.includes('?')) void ctx.query;
    deps.admit?.(ctx);
    await route.respond(ctx, param);
  } catch (thrown) {
    ctx.set('x-request-id', ctx.state.requestId);
    setSecurityHeaders(ctx, deps.publicUrl);
    ctx.set('cache-control', 'no-store');
    deps.reject(ctx, thrown);
  }
  deps.logDone(ctx);
}
