/** The fast path of `POST /e/:key`, by which nearly all requests come: the steps of the middleware and of the router in one function, before
 *  them. Rules, errors, metrics and traces are the same, because the functions are. A response to a sender that succeeds has no headers for
 *  pages; a rejection has all. */
import { newId } from '../../model/ids.ts';
import type { Context, Middleware } from '../http/router.ts';
import { setSecurityHeaders } from '../http/security-headers.ts';
import type { Received } from './resolve-environment.ts';
import { respond } from './respond.ts';

/** Every other path under /e/ is the router's: in capitals, with a slash at its end, or with escaped characters. */
const PATH = /^\/e\/([\w-]{1,1024})(?:\?|$)/;
/** As the router would set it; metrics, traces and the log name it. */
const ROUTE = '/e/:key';

export interface FastPathDeps {
  publicUrl: string | undefined;
  /** What comes before all other steps and sees the final response, outermost first. */
  observers: readonly Middleware[];
  /** @throws ServiceError for a request that the rules of dev mode reject; undefined: not dev mode */
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
    // Rejects queries of too many fields before anything reads them.
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
