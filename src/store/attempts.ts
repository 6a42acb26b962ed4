/** Tries to sign in, counted by account and by address before the password is looked at, so that many at once count as many.
 *  After the first few each makes the next wait, twice as long each time. */
import { digestOf } from '../model/secret.ts';
import type { Keyspace } from './keyspace.ts';
import type { Redis } from './redis.ts';
import { type ScriptedRedis, withScripts } from './scripts.ts';

/** Tries until the first wait. An address may be that of a whole office. */
const FREE = { account: 5, address: 20 };
const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 900_000;
const FORGET_MS = 3_600_000;

export interface Attempt {
  /** What was typed, known or not. */
  account: string;
  /** Where it came from. */
  address: string;
}

export class Attempts {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = withScripts(redis);
    this.#keys = keys;
  }

  /** Counts a try. @returns 0, or for how long there must be none, in milliseconds */
  async begin(attempt: Attempt, nowMs: number): Promise<number> {
    const { account, address } = this.#keysOf(attempt);
    const limits = [FREE.account, FREE.address, FIRST_WAIT_MS, LONGEST_WAIT_MS, FORGET_MS];
    return Number(await this.#redis.takeAttempt(account, address, nowMs, ...limits));
  }

  /** It was the right password: the account's count starts anew, and the address is given its try back. */
  async succeed(attempt: Attempt): Promise<void> {
    const { account, address } = this.#keysOf(attempt);
    await this.#redis.multi().del(account).hincrby(address, 'tries', -1).hdel(address, 'until').exec();
  }

  #keysOf({ account, address }: Attempt) {
    return {
      account: this.#keys.attempts('account', digestOf(account)),
      address: this.#keys.attempts('address', digestOf(address)),
    };
  }
}
