/** Who a request comes from: a key says so, or a session does; in dev mode nobody is asked. */
import type { Context } from 'koa';
import type { Config } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { DEV_PRINCIPAL, type Principal, SETTING_PRINCIPAL } from '../../model/auth/access.ts';
import { principalOfKey } from '../../model/auth/api-key.ts';
import { bearerToken, digestOf, sameSecret } from '../../model/auth/secret.ts';
import { principalOfUser } from '../../model/auth/user.ts';
import type { Store } from '../../store/store.ts';
import { isSecure, readSessionCookie } from './session-cookie.ts';

type Deps = Pick<Store, 'apiKeys' | 'sessions'>;

export class Principals {
  readonly #config: Config;
  readonly #store: Deps;

  constructor(config: Config, store: Deps) {
    this.#config = config;
    this.#store = store;
  }

  async of(ctx: Context): Promise<Principal | undefined> {
    if (this.#config.dev) return DEV_PRINCIPAL;
    const secret = bearerOf(ctx);
    if (secret !== undefined) return this.#holderOf(secret);
    const token = readSessionCookie(ctx, isSecure(ctx, this.#config.publicUrl));
    const user = token ? await this.#store.sessions.userOf(token, Date.now()) : undefined;
    return user && principalOfUser(user);
  }

  async #holderOf(secret: string): Promise<Principal | undefined> {
    const { apiKey } = this.#config;
    if (apiKey !== undefined && sameSecret(secret, apiKey)) return SETTING_PRINCIPAL;
    const key = await this.#store.apiKeys.find(digestOf(secret));
    if (!key) return undefined;
    this.#store.apiKeys.recordUse(key.id, Date.now());
    return principalOfKey(key);
  }
}

/** `Authorization: Bearer <secret>`. */
export function bearerOf(ctx: Context): string | undefined {
  return bearerToken(ctx.get('authorization'));
}

/** Whom the guard has let in.
 *  @throws ServiceError credentials_invalid when there is nobody */
export function principalOf(ctx: Context): Principal {
  const caller = ctx.state.caller as Principal | undefined;
  if (!caller) {
    throw new ServiceError('credentials_invalid', { detail: 'sign in, or send "Authorization: Bearer <API key>"' });
  }
  return caller;
}
