/** Dev mode asks nobody who they are, so it answers to this machine only: under its own names, and to its own pages. Others may be listed
 *  (DEV_ALLOWED_ORIGINS). It holds for every door: a page elsewhere can neither send by itself, nor under a name of its own that was made
 *  to lead here. */
import type { Context, Middleware, Next } from 'koa';
import { isLoopback } from '../../config.ts';
import { ServiceError } from '../../errors.ts';

/** @param allowed origins beside those of this machine */
export function requireLocalHost(allowed: readonly string[]): Middleware {
  const hosts = new Set(allowed.map((origin) => new URL(origin).hostname));
  const isHere = (host: string) => {
    const hostname = URL.parse(`http://${host}`)?.hostname;
    return hostname !== undefined && (isLoopback(hostname) || hosts.has(hostname));
  };
  return async (ctx: Context, next: Next) => {
    // Where a proxy is believed, also what it says: and what it does not, somebody else may have said.
    const foreign = [ctx.get('host'), ctx.host].find((host) => !isHere(host));
    if (foreign !== undefined) throw refusal(`it was sent to "${foreign}"`, `http://${foreign}`);
    const origin = ctx.get('origin');
    if (origin !== '' && !isLocalPage(origin, allowed)) throw refusal(`it came from a page of "${origin}"`, origin);
    await next();
  };
}

/** On `/e/`: a page under development may send events, and read the answer. After `answerLocally`. */
export async function openToPages(ctx: Context, next: Next): Promise<void> {
  ctx.vary('origin');
  const origin = ctx.get('origin');
  if (origin !== '') ctx.set('access-control-allow-origin', origin);
  if (ctx.method !== 'OPTIONS') return void (await next());
  ctx.set('access-control-allow-methods', 'POST');
  ctx.set('access-control-allow-headers', '*');
  // Chromium asks before it lets a page of a public address send to this machine.
  ctx.set('access-control-allow-private-network', 'true');
  ctx.set('access-control-max-age', '600');
  ctx.status = 204;
}

function isLocalPage(origin: string, allowed: readonly string[]): boolean {
  const url = URL.parse(origin);
  return url !== null && (isLoopback(url.hostname) || allowed.includes(url.origin));
}

/** Pages without an origin of their own (a file, a sandboxed frame) cannot be listed. */
function wayOut(origin: string): string {
  const listable = URL.parse(origin)?.origin ?? 'null';
  return listable === 'null'
    ? 'Open the page by http:// from this machine, or send from a program, without an Origin header'
    : `To allow it, start the service with DEV_ALLOWED_ORIGINS=${listable}`;
}

function refusal(what: string, origin: string): ServiceError {
  return new ServiceError('origin_untrusted', {
    detail: `${what}; dev mode answers to this machine only. ${wayOut(origin)}`,
  });
}
