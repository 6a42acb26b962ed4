/** Authenticates a request by its API key or signing key, otherwise by its session cookie. Dev mode authenticates nobody. */

import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { isKey } from '../../functions/signing.ts';
import { DEV_PRINCIPAL, type Principal, principalOfApp, SETTING_PRINCIPAL } from '../../model/auth/access.ts';
import { principalOfKey } from '../../model/auth/api-key.ts';
import { bearerToken, digestOf, sameSecret } from '../../model/auth/secret.ts';
import { principalOfUser } from '../../model/auth/user.ts';
import { ownerOfName, PRODUCTION } from '../../model/environment.ts';
import { Composed } from '../../model/values/composed.ts';
import type { Store } from '../../store/store.ts';
import { environmentSelection } from '../http/environment-selection.ts';
import { type Context, isSecure } from '../http/router.ts';
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

  /** Authenticates a request again after its body has arrived: the session may have ended or the key may have been revoked meanwhile.
   *  @throws ServiceError credentials_invalid */
  async confirm(ctx: Context): Promise<void> {
    ctx.state.principal = await this.of(ctx);
    principalOf(ctx);
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
