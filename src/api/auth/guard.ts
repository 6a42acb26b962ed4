/** The one guard before everything that is not open: it finds out who asks, and whether they may. */
import type { Context, Next } from 'koa';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { type Access, covers, type Principal } from '../../model/auth/access.ts';
import { PRODUCTION } from '../../model/environment.ts';
import type { Store } from '../../store/store.ts';
import { environmentSelection } from '../http/environment-selection.ts';
import { isSafeMethod, requireOwnScript } from './csrf.ts';
import { Principals, principalOf } from './principals.ts';

type Middleware = (ctx: Context, next: Next) => Promise<void>;

/** Lets in whoever is known; browsers are shown where to sign in. What they may do then, `allow` and `allowAll` decide. */
export function guard(config: Config, store: Pick<Store, 'apiKeys' | 'sessions'>): Middleware {
  const callers = new Principals(config, store);
  return async (ctx, next) => {
    ctx.state.caller = await callers.of(ctx);
    if (!ctx.state.caller && isBrowsing(ctx)) {
      ctx.redirect(`/sign-in?next=${encodeURIComponent(ctx.url)}`);
      return;
    }
    demandTrustedOrigin(principalOf(ctx), ctx, config);
    await next();
  };
}

/** A key is sent on purpose; what a browser adds by itself may have been another site's doing. */
function demandTrustedOrigin({ kind }: Principal, ctx: Context, { publicUrl }: Config): void {
  if (kind === 'user' && !isSafeMethod(ctx)) requireOwnScript(ctx, publicUrl);
}

function isBrowsing(ctx: Context): boolean {
  return ctx.method === 'GET' && ctx.get('accept').includes('text/html') && ctx.get('authorization') === '';
}

export interface Rule {
  access: Access;
  about: 'environment' | 'account';
}

/** @throws ServiceError access_denied */
export function allow(ctx: Context, { access, about }: Rule): void {
  const caller = principalOf(ctx);
  demandAccess(caller, access);
  if (caller.environment === undefined) return;
  if (about === 'account')
    throw denied(`this key is held to the environment "${caller.environment}"; it needs one that is not`);
  const selected = environmentOf(ctx);
  if (selected !== caller.environment) {
    throw denied(`this key is held to the environment "${caller.environment}"; it needs one for "${selected}"`);
  }
}

/** The environment that a request selects; else the caller's own, else production. */
export function environmentOf(ctx: Context): string {
  return environmentSelection(ctx) ?? principalOf(ctx).environment ?? PRODUCTION;
}

function demandAccess(caller: Principal, needed: Access): void {
  if (!covers(caller.access, needed))
    throw denied(`it needs ${needed} access, and ${caller.name} has ${caller.access}`);
}

function denied(detail: string): ServiceError {
  return new ServiceError('access_denied', { detail });
}
