/** Tokens of links that work once: to set a password, or to create the first admin. Stored by their digest. */
import { digestOf, newSecret } from '../../model/auth/secret.ts';
import type { Redis } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';

export const TOKEN_LIFETIME_HOURS = 24;

/** What the token allows. */
export type OneTimeToken = { purpose: 'set-up' } | { purpose: 'set-password'; userId: string; version: string };

export class OneTimeTokens {
  readonly #redis: Redis;
  readonly #keys: Keyspace;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  /** @returns the token for the link */
  async create(allowed: OneTimeToken): Promise<string> {
    const token = newSecret();
    await this.#redis.set(this.#keyOf(token), JSON.stringify(allowed), 'PX', TOKEN_LIFETIME_HOURS * 3_600_000);
    return token;
  }

  async read(token: string): Promise<OneTimeToken | undefined> {
    return parsed(await this.#redis.get(this.#keyOf(token)));
  }

  /** Reads the token and deletes it; of several concurrent calls, one succeeds. */
  async use(token: string): Promise<OneTimeToken | undefined> {
    return parsed(await this.#redis.getdel(this.#keyOf(token)));
  }

  #keyOf(token: string): string {
    return this.#keys.oneTimeToken(digestOf(token));
  }
}

function parsed(text: string | null): OneTimeToken | undefined {
  return text === null ? undefined : (JSON.parse(text) as OneTimeToken);
}
