/** Limits on failed sign-ins. Attempts are counted before the password is checked, so that concurrent attempts all count:
 *
 *  1. by address (an IPv6 /64 network counts as one): a high limit, since a whole office may share it
 *  2. by account and address together: a low limit
 *  3. by account alone: a high limit that does not apply to addresses that have signed in to the account before. It bounds guesses from many
 *     addresses and does not lock out the owner. For second factors it is lower: a code has 6 digits.
 *
 *  An attempt that one limit rejects does not count against the next: one address cannot use up an account's limit. */
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { digestOf } from '../../model/auth/secret.ts';
import { addressBlock } from '../../model/network/address.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { Redis } from '../redis/connection/connection.ts';
import type { Keyspace } from '../redis/keyspace/keyspace.ts';
import { Repository } from '../redis/repository.ts';

export type ThrottleLimit = 'address' | 'account-address' | 'account' | 'second-factor';

/** Maximum number of failures, and the seconds until they expire, from the first. */
const LIMITS = {
  address: { points: 50, duration: 900 },
  'account-address': { points: 5, duration: 900 },
  account: { points: 100, duration: 3_600 },
  'second-factor': { points: 20, duration: 3_600 },
} as const satisfies Record<ThrottleLimit, object>;

/** How long an address is remembered after a successful sign-in. */
const KNOWN_MS = 30 * DAY_MS;

export interface SignInAttempt {
  /** Email address as typed; undefined while it is unknown, at a provider. */
  account?: string;
  /** The client's address. */
  address: string;
  /** Whether the password is already known; `account` is then the ID of the user. */
  isSecondFactor?: boolean;
}

export interface Throttled {
  limit: ThrottleLimit;
  waitMs: number;
}

export class SignInThrottle extends Repository<Redis> {
  readonly #limiters: Record<ThrottleLimit, RateLimiterAbstract>;

  constructor(redis: Redis, keys: Keyspace) {
    super(redis, keys);
    this.#limiters = {
      address: this.#limiter('address'),
      'account-address': this.#limiter('account-address'),
      account: this.#limiter('account'),
      'second-factor': this.#limiter('second-factor'),
    };
  }

  /** Counts the attempt as a failure in advance.
   *  @returns the limit that rejects it, or undefined */
  async begin(attempt: SignInAttempt): Promise<Throttled | undefined> {
    const { address, both, account, known } = this.#keysOf(attempt);
    const limit = attempt.isSecondFactor ? 'second-factor' : 'account';
    const { address: ofAddress, 'account-address': ofBoth, [limit]: ofAccount } = this.#limiters;
    const isKnown = (await this.redis.exists(known)) === 1;
    const byAddress = await consume(ofAddress, address);
    if (byAddress > 0) return { limit: 'address', waitMs: byAddress };
    if (attempt.account === undefined) return undefined;
    const byBoth = await consume(ofBoth, both);
    if (byBoth > 0) {
      // Repeated attempts on one account must not block others from this address.
      await ofAddress.reward(address);
      return { limit: 'account-address', waitMs: byBoth };
    }
    const byAccount = isKnown ? 0 : await consume(ofAccount, account);
    return byAccount > 0 ? { limit, waitMs: byAccount } : undefined;
  }

  /** Uncounts a successful attempt, and remembers its address. */
  async succeed(attempt: SignInAttempt): Promise<void> {
    const { address, both, account, known } = this.#keysOf(attempt);
    if (attempt.account === undefined) return void (await this.#limiters.address.reward(address));
    const wasKnown = (await this.redis.exists(known)) === 1;
    await Promise.all([
      this.#limiters.address.reward(address),
      this.#limiters['account-address'].delete(both),
      ...(wasKnown ? [] : [this.#limiters[attempt.isSecondFactor ? 'second-factor' : 'account'].reward(account)]),
      // If Redis rejects the write, the address is not remembered.
      this.redis.set(known, '', 'PX', KNOWN_MS).catch(() => undefined),
    ]);
  }

  /** If Redis rejects writes, each process counts by itself. */
  #limiter(limit: ThrottleLimit): RateLimiterAbstract {
    return new RateLimiterRedis({
      ...LIMITS[limit],
      storeClient: this.redis,
      keyPrefix: this.keys.signInThrottle(limit),
      insuranceLimiter: new RateLimiterMemory(LIMITS[limit]),
    });
  }

  #keysOf({ account = '', address }: SignInAttempt) {
    const block = addressBlock(address);
    const both = digestOf(JSON.stringify([account, block]));
    return { address: digestOf(block), both, account: digestOf(account), known: this.keys.knownAddress(both) };
  }
}

/** @returns 0, or the milliseconds until the limit permits another attempt */
async function consume(limiter: RateLimiterAbstract, key: string): Promise<number> {
  try {
    await limiter.consume(key);
    return 0;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return Math.max(refused.msBeforeNext, 1);
    throw refused;
  }
}
