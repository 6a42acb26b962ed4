/** Dev mode authenticates nobody, so every route accepts requests from this machine only: under its own host names, and from its own pages.
 *  DEV_ALLOWED_ORIGINS adds origins. Pages of other sites can neither send requests nor reach the service by DNS rebinding. */
import type { Next } from 'koa';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../errors.ts';
import { isContainerHostName } from '../../model/network/container-host-names.ts';
import type { Context, Middleware } from '../http/router.ts';
import { isThisMachine } from './this-machine.ts';

/** Maximum number of cached Host headers: nearly all requests have the same. */
const REMEMBERED_HOSTS = 100;

/** @param allowed additional origins */
export function requireLocalHost(allowed: readonly string[]): Middleware {
  const check = localHostCheck(allowed);
  return async (ctx: Context, next: Next) => {
    check(ctx);
    await next();
  };
}

/** @returns a function that throws ServiceError origin_untrusted for other requests */
export function localHostCheck(allowed: readonly string[]): (ctx: Context) => void {
  const hosts = new Set(allowed.map((origin) => new URL(origin).hostname));
  const known = new LRUCache<string, boolean>({ max: REMEMBERED_HOSTS });
  const isLocal = (host: string) => {
    const before = known.get(host);
    if (before !== undefined) return before;
    const hostname = URL.parse(`http://${host}`)?.hostname;
    const result = hostname !== undefined && (isThisMachine(hostname) || hosts.has(hostname));
    if (hostname === undefined || !isContainerHostName(hostname)) known.set(host, result);
    return result;
  };
  const requireLocal = (host: string) => {
    if (!isLocal(host)) throw rejection(`the host is "${host}"`, `http://${host}`);
  };
  return (ctx) => {
    // Avoids Koa's getters, which take as long as the rest of the check.
    const { host = '', origin = '' } = ctx.req.headers;
    requireLocal(host);
    // Behind a trusted proxy, both Host and X-Forwarded-Host are checked: a client may have set either.
    if (ctx.app.proxy) requireLocal(ctx.host);
    if (origin !== '' && !isLocalPage(origin, allowed)) throw rejection(`the origin is "${origin}"`, origin);
  };
}

/** CORS for `/e/`: a page under development may send events and read the response. Runs after `requireLocalHost`. */
export async function allowCrossOrigin(ctx: Context, next: Next): Promise<void> {
  const { vary, ...allowed } = crossOriginHeaders(ctx);
  // Other values may be there already.
  ctx.vary(vary);
  ctx.set(allowed);
  if (ctx.method !== 'OPTIONS') return void (await next());
  ctx.set('access-control-allow-methods', 'POST');
  ctx.set('access-control-allow-headers', '*');
  // Chromium requires this before a page from a public address may send to this machine.
  ctx.set('access-control-allow-private-network', 'true');
  ctx.set('access-control-max-age', '600');
  ctx.status = 204;
}

/** CORS headers that do not depend on the method. */
export function crossOriginHeaders(ctx: Context): { vary: string; 'access-control-allow-origin'?: string } {
  const { origin } = ctx.req.headers;
  return origin ? { vary: 'origin', 'access-control-allow-origin': origin } : { vary: 'origin' };
}

function isLocalPage(origin: string, allowed: readonly string[]): boolean {
  const url = URL.parse(origin);
  return url !== null && (isThisMachine(url.hostname) || allowed.includes(url.origin));
}

/** Pages without an origin, such as files and sandboxed frames, cannot be listed in the setting. */
function remedy(origin: string): string {
  const listable = URL.parse(origin)?.origin ?? 'null';
  return listable === 'null'
    ? 'Open the page by http:// from this machine, or send from a program without an Origin header'
    : `To allow it, start the service with DEV_ALLOWED_ORIGINS=${listable}`;
}

function rejection(reason: string, origin: string): ServiceError {
  return new ServiceError('origin_untrusted', {
    detail: `${reason}; dev mode accepts requests from this machine only. ${remedy(origin)}`,
  });
}
