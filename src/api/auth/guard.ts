/** The guard authenticates every request to the REST API, the dashboard and Bull Board; `allow` then authorizes it. */
import type { Next } from 'koa';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { type Access, covers, type Principal } from '../../model/auth/access.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { environmentSelection } from '../http/environment-selection.ts';
import type { Context, Middleware } from '../http/router.ts';
import { isSafeMethod, requireOwnScript } from './csrf.ts';
import { type Principals, principalOf } from './principals.ts';

/** Rejects requests without a known principal; browsers are redirected to the sign-in page. */
export function guard({ publicUrl }: Pick<Config, 'publicUrl'>, principals: Principals): Middleware {
  return async (ctx: Context, next: Next) => {
    ctx.state.principal = await principals.of(ctx);
    if (!ctx.state.principal && isBrowser(ctx)) {
      ctx.redirect(`/sign-in?next=${encodeURIComponent(ctx.url)}`);
      return;
    }
    requireTrustedOrigin(principalOf(ctx), ctx, publicUrl);
    await next();
  };
}

/** Blocks cross-site requests (CSRF). Only session cookies are at risk: a browser never sends an API key by itself. */
function requireTrustedOrigin({ kind }: Principal, ctx: Context, publicUrl: string | undefined): void {
  if (kind === 'user' && !isSafeMethod(ctx)) requireOwnScript(ctx, publicUrl);
}

function isBrowser(ctx: Context): boolean {
  return ctx.method === 'GET' && ctx.get('accept').includes('text/html') && ctx.get('authorization') === '';
}

export interface AccessRule {
  access: Access;
  scope: 'environment' | 'installation';
  /** Apps may also use it, with their signing key. */
  forApps?: true | undefined;
}

/** @throws ServiceError access_denied */
export function allow(ctx: Context, { access, scope, forApps }: AccessRule): void {
  const principal = principalOf(ctx);
  if (principal.kind === 'signing-key' && !forApps) {
    throw accessDenied('a signing key gives an app access to its events and runs only; use an API key');
  }
  requireAccess(principal, access);
  const { environment } = principal;
  if (environment === undefined) return;
  if (scope === 'installation') {
    throw accessDenied(`this key is restricted to the environment "${environment}"; use a key without a restriction`);
  }
  const selected = environmentOf(ctx);
  if (selected !== environment) {
    throw accessDenied(`this key is restricted to the environment "${environment}"; use a key for "${selected}"`);
  }
}

/** The selected environment, otherwise the environment to which the principal is restricted, otherwise production. */
export function environmentOf(ctx: Context): string {
  return environmentSelection(ctx) ?? principalOf(ctx).environment ?? PRODUCTION;
}

function requireAccess({ name, access }: Principal, needed: Access): void {
  if (!covers(access, needed)) {
    throw accessDenied(`this request needs ${needed} access, and ${name} has ${access} access`);
  }
}

function accessDenied(detail: string): ServiceError {
  return new ServiceError('access_denied', { detail });
}
