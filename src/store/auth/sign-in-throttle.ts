/** Limits on failed sign-ins. Counted before the password is looked at, so that many at once count as many:
 *
 *  1. by address (an IPv6 network of a /64 is one): loosely, since a whole office may share it
 *  2. by account and address together: strictly
 *  3. by account alone: loosely, and not from an address that has signed in to it before. Guesses from many addresses are bounded by
 *     that, and nobody locks an account's owner out with them.
 *
 *  A try that an earlier limit refuses does not count against a later one: one address cannot use up an account's. */

import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { digestOf } from '../../model/auth/secret.ts';
import { addressBlock } from '../../model/network/address.ts';
import type { Redis } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';

export type ThrottleLimit = 'address' | 'account-address' | 'account';

/** Failures, and the seconds from the first of them until they are forgotten. */
const LIMITS = {
  address: { points: 50, duration: 900 },
  'account-address': { points: 5, duration: 900 },
  account: { points: 100, duration: 3_600 },
} as const satisfies Record<ThrottleLimit, object>;

/** How long an address is known after a sign-in from it. */
const KNOWN_MS = 30 * 86_400_000;

export interface SignInAttempt {
  /** What was typed, known or not. */
  account: string;
  /** Where it came from. */
  address: string;
}

export interface Throttled {
  limit: ThrottleLimit;
  waitMs: number;
}

export class SignInThrottle {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly #limiters: Record<ThrottleLimit, RateLimiterAbstract>;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
    this.#limiters = {
      address: this.#limiter('address'),
      'account-address': this.#limiter('account-address'),
      account: this.#limiter('account'),
    };
  }

  /** Counts a try as failed.
   *  @returns the limit that refuses it, or undefined */
  async begin(attempt: SignInAttempt): Promise<Throttled | undefined> {
    const { address, both, account, known } = this.#keysOf(attempt);
    const { address: ofAddress, 'account-address': ofBoth, account: ofAccount } = this.#limiters;
    const isKnown = (await this.#redis.exists(known)) === 1;
    const byAddress = await consume(ofAddress, address);
    if (byAddress > 0) return { limit: 'address', waitMs: byAddress };
    const byBoth = await consume(ofBoth, both);
    if (byBoth > 0) {
      // Others at this address are not to wait for somebody who tries on and on.
      await ofAddress.reward(address);
      return { limit: 'account-address', waitMs: byBoth };
    }
    const byAccount = isKnown ? 0 : await consume(ofAccount, account);
    return byAccount > 0 ? { limit: 'account', waitMs: byAccount } : undefined;
  }

  /** It was the right password: the try is given back, and the address is known from now on. */
  async succeed(attempt: SignInAttempt): Promise<void> {
    const { address, both, account, known } = this.#keysOf(attempt);
    const wasKnown = (await this.#redis.exists(known)) === 1;
    await Promise.all([
      this.#limiters.address.reward(address),
      this.#limiters['account-address'].delete(both),
      ...(wasKnown ? [] : [this.#limiters.account.reward(account)]),
      // Where Redis takes no writes it is as unknown as before.
      this.#redis.set(known, '', 'PX', KNOWN_MS).catch(() => undefined),
    ]);
  }

  /** Where Redis takes no writes, each process counts for itself. */
  #limiter(limit: ThrottleLimit): RateLimiterAbstract {
    return new RateLimiterRedis({
      ...LIMITS[limit],
      storeClient: this.#redis,
      keyPrefix: this.#keys.signInThrottle(limit),
      insuranceLimiter: new RateLimiterMemory(LIMITS[limit]),
    });
  }

  #keysOf({ account, address }: SignInAttempt) {
    const block = addressBlock(address);
    const both = digestOf(JSON.stringify([account, block]));
    return { address: digestOf(block), both, account: digestOf(account), known: this.#keys.knownAddress(both) };
  }
}

/** @returns 0, or for how many milliseconds the limit refuses more */
async function consume(limiter: RateLimiterAbstract, key: string): Promise<number> {
  try {
    await limiter.consume(key);
    return 0;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return Math.max(refused.msBeforeNext, 1);
    throw refused;
  }
}
