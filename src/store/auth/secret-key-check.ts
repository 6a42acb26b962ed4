/** Whether SECRET_KEY, or SECRET_KEY_FALLBACK, opens what is sealed in Redis. With another key the service would run, and every call that has
 *  to be signed would fail. A value of its own is kept sealed, since a service may have sealed nothing else yet. */
import { ConfigError } from '../../config.ts';
import { SealError, type Sealer } from '../../model/auth/seal.ts';
import type { Redis } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { SigningKeys } from './signing-keys.ts';

const PLACE = 'seal-check';

export class SecretKeyCheck {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly #sealer: Sealer;
  readonly #signingKeys: SigningKeys;

  constructor({
    redis,
    keys,
    sealer,
    signingKeys,
  }: { redis: Redis; keys: Keyspace; sealer: Sealer; signingKeys: SigningKeys }) {
    this.#redis = redis;
    this.#keys = keys;
    this.#sealer = sealer;
    this.#signingKeys = signingKeys;
  }

  /** Writes nothing.
   *  @throws ConfigError when something cannot be opened */
  async verify(): Promise<void> {
    const [kept, unreadable] = await Promise.all([
      this.#redis.get(this.#keys.secretKeyCheck),
      this.#signingKeys.unreadable(),
    ]);
    if (unreadable.length > 0) throw this.#wrongKey(`the signing key of ${unreadable.join(', ')}`);
    if (kept !== null && !this.#opens(kept)) throw this.#wrongKey('what a former start sealed');
  }

  /** Of a process that is going to seal: of two that begin on an empty Redis with different keys, one is refused.
   *  @throws ConfigError when something cannot be opened */
  async claim(): Promise<void> {
    await this.verify();
    // A Redis that takes no writes now is claimed by a later start.
    await this.#redis.setnx(this.#keys.secretKeyCheck, this.#sealer.seal('', PLACE)).catch(() => undefined);
    await this.verify();
  }

  /** Seals all under the present key, so that the former one can be forgotten.
   *  @returns how many signing keys that were */
  async reencrypt(): Promise<number> {
    const count = await this.#signingKeys.reencrypt();
    await this.#redis.set(this.#keys.secretKeyCheck, this.#sealer.seal('', PLACE));
    return count;
  }

  #opens(sealed: string): boolean {
    try {
      this.#sealer.open(sealed, PLACE);
      return true;
    } catch (error) {
      if (error instanceof SealError) return false;
      throw error;
    }
  }

  #wrongKey(what: string): ConfigError {
    const { secretKeyCheck: sealCheck, signingKeys } = this.#keys;
    return new ConfigError(
      `SECRET_KEY: neither it nor SECRET_KEY_FALLBACK decrypts ${what} in Redis. Set SECRET_KEY_FALLBACK to the previous key. ` +
        `If that key is lost, delete the Redis keys ${signingKeys} and ${sealCheck}: the service generates new signing keys, which apps then need`,
    );
  }
}
