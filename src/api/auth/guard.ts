/** The one guard before everything that is not open: it finds out who asks, and whether they may. */
import type { Context, Next } from 'koa';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { type Access, type Caller, covers } from '../../model/auth/access.ts';
import { PRODUCTION } from '../../model/environment.ts';
import type { Store } from '../../store/store.ts';
import { environmentSelection } from '../http/environment-selection.ts';
import { changesNothing, demandOwnScript } from './csrf.ts';
import { Callers, callerOf } from './principals.ts';

type Middleware = (ctx: Context, next: Next) => Promise<void>;

/** Lets in whoever is known; browsers are shown where to sign in. What they may do then, `allow` and `allowAll` decide. */
export function guard(config: Config, store: Pick<Store, 'apiKeys' | 'sessions'>): Middleware {
  const callers = new Callers(config, store);
  return async (ctx, next) => {
    ctx.state.caller = await callers.of(ctx);
    if (!ctx.state.caller && isBrowsing(ctx)) {
      ctx.redirect(`/sign-in?next=${encodeURIComponent(ctx.url)}`);
      return;
    }
    demandTrustedOrigin(callerOf(ctx), ctx, config);
    await next();
  };
}

/** A key is sent on purpose; what a browser adds by itself may have been another site's doing. */
function demandTrustedOrigin({ kind }: Caller, ctx: Context, { publicUrl }: Config): void {
  if (kind === 'user' && !changesNothing(ctx)) demandOwnScript(ctx, publicUrl);
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
  const caller = callerOf(ctx);
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
  return environmentSelection(ctx) ?? callerOf(ctx).environment ?? PRODUCTION;
}

function demandAccess(caller: Caller, needed: Access): void {
  if (!covers(caller.access, needed))
    throw denied(`it needs ${needed} access, and ${caller.name} has ${caller.access}`);
}

function denied(detail: string): ServiceError {
  return new ServiceError('access_denied', { detail });
}
