/** Authenticates a request by its API key or signing key, otherwise by its session cookie. Dev mode authenticates nobody. */

import type { Next } from 'koa';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { isKey } from '../../functions/signing.ts';
import {
  type Access,
  type AccessLevel,
  accessAnywhere,
  accessTo,
  accessToAll,
  covers,
  DEV_PRINCIPAL,
  onlyEnvironment,
  type Principal,
  principalOfApp,
  SETTING_PRINCIPAL,
} from '../../model/auth/access.ts';
import { principalOfKey } from '../../model/auth/api-key.ts';
import { bearerToken, digestOf, sameSecret } from '../../model/auth/secret.ts';
import { principalOfUser } from '../../model/auth/user.ts';
import { BRANCH_SET, type EnvironmentRef, type Owner, ownerOfName, PRODUCTION } from '../../model/environment.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Store } from '../../store/store.ts';
import { environmentSelection } from '../http/environment-selection.ts';
import { type Context, isSecure, type Middleware } from '../http/router.ts';
import { isSafeMethod, requireOwnScript } from './csrf.ts';
import { SESSION_COOKIE } from './host-cookie.ts';

export interface PrincipalsDeps extends Pick<Store, 'apiKeys' | 'sessions' | 'signingKeys' | 'environments'> {
  config: Pick<Config, 'dev' | 'apiKey' | 'publicUrl'>;
}

export class Principals extends Composed<PrincipalsDeps> {
  /** undefined for missing or unknown credentials. */
  async of(ctx: Context): Promise<Principal | undefined> {
    const { config, sessions } = this.deps;
    if (config.dev) return DEV_PRINCIPAL;
    const secret = bearerOf(ctx);
    if (secret !== undefined) return (await this.#ofApiKey(secret)) ?? this.#ofSigningKey(secret, ctx);
    const token = SESSION_COOKIE.read(ctx, isSecure(ctx, config.publicUrl));
    const user = token ? await sessions.userOf(token, Date.now()) : undefined;
    return user && principalOfUser(user);
  }

  async #ofApiKey(secret: string): Promise<Principal | undefined> {
    const { config, apiKeys } = this.deps;
    if (config.apiKey !== undefined && sameSecret(secret, config.apiKey)) return SETTING_PRINCIPAL;
    const key = await apiKeys.find(digestOf(secret));
    if (!key) return undefined;
    apiKeys.recordUse(key.id, Date.now());
    return principalOfKey(key);
  }

  /** Authenticates an app whose secret is the selected environment's signing key, either hashed, as SDKs send it, or unhashed. */
  async #ofSigningKey(secret: string, ctx: Context): Promise<Principal | undefined> {
    const { environments, signingKeys } = this.deps;
    const name = environmentSelection(ctx) ?? PRODUCTION;
    const environment = await environments.findOrFetch(name);
    const proven = await signingKeys.find(ownerOfName(environment), (key) => isKey(secret, key));
    return proven === undefined ? undefined : principalOfApp(name);
  }
}

/** The secret in `Authorization: Bearer <secret>`. */
export function bearerOf(ctx: Pick<Context, 'get'>): string | undefined {
  return bearerToken(ctx.get('authorization'));
}

/** @throws ServiceError credentials_invalid when the request is not authenticated */
export function principalOf({ state: { principal } }: Context): Principal {
  if (principal) return principal;
  throw new ServiceError('credentials_invalid', { detail: 'sign in, or send "Authorization: Bearer <API key>"' });
}

/** Authenticates every request to the REST API, the dashboard and Bull Board; `allow` then authorizes it. Rejects requests without a known
 *  principal; browsers are redirected to the sign-in page. */
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
  /** Any environment: the response has nothing of an environment. */
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
