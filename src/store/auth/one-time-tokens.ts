/** Tokens of links that work once: to set a password, or to create the first admin. Stored by their digest. */
import type { Sealer } from '../../model/auth/seal.ts';
import { digestOf, newSecret } from '../../model/auth/secret.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import type { Redis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

export const TOKEN_LIFETIME_HOURS = 24;
const LIFETIME_MS = TOKEN_LIFETIME_HOURS * HOUR_MS;

/** The action that a token permits. */
export type OneTimeToken = { purpose: 'set-up' } | { purpose: 'set-password'; userId: string; version: string };

export class OneTimeTokens extends Repository<Redis, { sealer: Sealer }> {
  /** @returns the token, for the link */
  async create(allowed: OneTimeToken): Promise<string> {
    const token = newSecret();
    await this.redis.set(this.#keyOf(token), JSON.stringify(allowed), 'PX', LIFETIME_MS);
    return token;
  }

  /** The token that creates the first admin. All processes that ask within its lifetime get the same one. */
  async forSetUp(): Promise<string> {
    const token = await this.#sharedToken();
    await this.redis.set(this.#keyOf(token), JSON.stringify({ purpose: 'set-up' }), 'PX', LIFETIME_MS, 'NX');
    return token;
  }

  /** Encrypted, so that read access to Redis does not let anyone become the admin. */
  async #sharedToken(): Promise<string> {
    const key = this.keys.setUpToken;
    const token = newSecret();
    const sealed = this.deps.sealer.seal(token, key);
    const there = await this.redis.set(key, sealed, 'PX', LIFETIME_MS, 'NX', 'GET');
    if (there === null) return token;
    const opened = this.deps.sealer.tryOpen(there, key);
    if (opened !== undefined) return opened;
    // The token is encrypted with an earlier SECRET_KEY.
    await this.redis.set(key, sealed, 'PX', LIFETIME_MS);
    return token;
  }

  async read(token: string): Promise<OneTimeToken | undefined> {
    return parsed(await this.redis.get(this.#keyOf(token)));
  }

  /** Reads and deletes the token; of several concurrent calls, one succeeds. */
  async use(token: string): Promise<OneTimeToken | undefined> {
    return parsed(await this.redis.getdel(this.#keyOf(token)));
  }

  #keyOf(token: string): string {
    return this.keys.oneTimeToken(digestOf(token));
  }
}

function parsed(text: string | null): OneTimeToken | undefined {
  return text === null ? undefined : (JSON.parse(text) as OneTimeToken);
}
