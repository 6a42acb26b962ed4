/** The fast path of `POST /e/:key`, which nearly all requests take: the steps of middleware and router in one function, mounted before
 *  them. It uses the same functions for rules, errors, metrics and traces. Successful responses lack the headers for pages; rejections
 *  have all headers. */
import { newId } from '../../model/ids.ts';
import type { Context, Middleware } from '../http/router.ts';
import { setSecurityHeaders } from '../http/security-headers.ts';
import type { Received } from './resolve-environment.ts';
import { respond } from './respond.ts';

/** The router handles all other paths under /e/: in capitals, with a trailing slash, or with escaped characters. */
const PATH = /^\/e\/([\w-]{1,1024})(?:\?|$)/;
/** Same value as the router's; used by metrics, traces and the log. */
const ROUTE = '/e/:key';

export interface FastPathDeps {
  publicUrl: string | undefined;
  /** Middleware that runs before all other steps and sees the final response, outermost first. */
  observers: readonly Middleware[];
  /** @throws ServiceError for a request that dev mode rejects; undefined outside of dev mode */
  admit: ((ctx: Context) => void) | undefined;
  receive(ctx: Context, key: string): Promise<Received>;
  /** Responds to an error. */
  reject(ctx: Context, thrown: unknown): void;
  logDone(ctx: Context): void;
}

export function fastPath(deps: FastPathDeps): Middleware {
  const { observers } = deps;
  return (ctx, next) => {
    const { method, url = '' } = ctx.req;
    const key = method === 'POST' ? PATH.exec(url)?.[1] : undefined;
    if (key === undefined) return next();
    ctx.state.requestId = newId();
    ctx._matchedRoute = ROUTE;
    if (observers.length === 0) return answer(ctx, key, deps);
    const observe = (i: number): unknown => observers[i]?.(ctx, async () => observe(i + 1)) ?? answer(ctx, key, deps);
    return observe(0);
  };
}

async function answer(ctx: Context, key: string, deps: FastPathDeps): Promise<void> {
  try {
    // Parses the query, so that too many fields are rejected before anything reads them.
    if (ctx.req.url?.includes('?')) void ctx.query;
    deps.admit?.(ctx);
    respond(ctx, deps.publicUrl, await deps.receive(ctx, key));
  } catch (thrown) {
    ctx.set('x-request-id', ctx.state.requestId);
    setSecurityHeaders(ctx, deps.publicUrl);
    ctx.set('cache-control', 'no-store');
    deps.reject(ctx, thrown);
  }
  deps.logDone(ctx);
}
