/** The guard authenticates every request to the REST API, the dashboard and Bull Board; `allow` then authorizes it. */
import type { Next } from 'koa';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import {
  type Access,
  type AccessLevel,
  accessAnywhere,
  accessTo,
  accessToAll,
  covers,
  onlyEnvironment,
  type Principal,
} from '../../model/auth/access.ts';
import { BRANCH_SET, type EnvironmentRef, type Owner, PRODUCTION } from '../../model/environment.ts';
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
  scope: Scope;
  /** Apps may also use it, with their signing key. */
  forApps?: true | undefined;
}

/** The environments whose access a request needs (docs/security.md#roles-by-environment). */
export const SCOPES = [
  /** The environment that the request selects. */
  'environment',
  /** The owner of the object: it is known once the object is found. */
  'owner',
  /** No environment: the base access counts. */
  'installation',
  /** All environments, because the response shows them together. */
  'all-environments',
  /** Any environment: the response has no data of environments. */
  'any-environment',
] as const;
export type Scope = (typeof SCOPES)[number];

/** Authorizes a request as far as this is possible before its object is known.
 *  @param selected the environment that the request selects; undefined for other scopes
 *  @throws ServiceError access_denied */
export function allow(
  ctx: Context,
  { access, scope, forApps }: AccessRule,
  selected: EnvironmentRef | undefined,
): void {
  const principal = principalOf(ctx);
  if (principal.kind === 'signing-key' && !forApps) {
    throw accessDenied('a signing key gives an app access to its events and runs only; use an API key');
  }
  if (scope === 'environment') {
    if (!selected) throw new TypeError('the environment that the request selects is missing');
    allowIn(principal, access, selected);
  } else if (scope === 'installation') {
    requireLevel(principal, accessTo(principal), access, 'the whole installation');
  } else if (scope === 'all-environments') {
    requireLevel(principal, accessToAll(principal), access, 'all environments');
  } else {
    requireLevel(principal, accessAnywhere(principal), access, 'any environment');
  }
}

/** @throws ServiceError access_denied */
export function allowIn(principal: Principal, access: Access, owner: Owner): void {
  requireLevel(principal, accessTo(principal, owner), access, nameOf(owner));
}

function nameOf(owner: Owner): string {
  if (owner === 'unknown') return 'all environments';
  return owner.name === BRANCH_SET ? 'all branch environments' : `the environment "${owner.name}"`;
}

/** The selected environment, otherwise the only one that the principal can access, otherwise production. */
export function environmentOf(ctx: Context): string {
  return environmentSelection(ctx) ?? onlyEnvironment(principalOf(ctx)) ?? PRODUCTION;
}

function requireLevel(principal: Principal, has: AccessLevel, needed: Access, what: string): void {
  if (covers(has, needed)) return;
  const only = onlyEnvironment(principal);
  const owned = has === 'none' ? `no access${only === undefined ? '' : ` but to "${only}"`}` : `${has} access`;
  throw accessDenied(`this request needs ${needed} access to ${what}, and ${principal.name} has ${owned}`);
}

function accessDenied(detail: string): ServiceError {
  return new ServiceError('access_denied', { detail });
}
