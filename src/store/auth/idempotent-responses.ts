/** The responses to requests with an `Idempotency-Key`: a repeated request gets the first one's. A claim comes first, so that of two requests at the same
 *  time one is carried out. The claim of a process that dies expires; then the next request with the key is carried out, although the first one may have
 *  been too. Encrypted, because a response may show a secret once. */
import { SealError, type Sealer } from '../../model/auth/seal.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import type { ScriptedRedis } from '../redis/scripts.ts';

const KEPT_MS = 24 * 3_600_000;
const CLAIM_MS = 60_000;

/** What is kept of a request. */
interface Kept {
  /** SHA-256 of what it asked for. */
  request: string;
  /** undefined: it is being carried out. */
  response?: KeptResponse;
}

export interface KeptResponse {
  status: number;
  /** JSON; '': none; null: it was too large to be kept. */
  body: string | null;
}

/** Held while a request is carried out. */
export interface Claim {
  key: string;
  request: string;
  value: string;
}

export type Claimed =
  | { claim: Claim }
  | { response: KeptResponse }
  /** in-progress: another request with the key is being carried out; other-request: one that asked for something else had the key; unreadable: sealed
   *  under a SECRET_KEY that this process does not have. */
  | { conflict: 'in-progress' | 'other-request' | 'unreadable' };

export class IdempotentResponses {
  readonly #redis: ScriptedRedis;
  readonly #keys: Keyspace;
  readonly #sealer: Sealer;

  constructor(redis: ScriptedRedis, keys: Keyspace, sealer: Sealer) {
    this.#redis = redis;
    this.#keys = keys;
    this.#sealer = sealer;
  }

  /** @param digest of the principal, the route and the idempotency key
   *  @param request digest of what is asked for */
  async claim(digest: string, request: string): Promise<Claimed> {
    const key = this.#keys.idempotentResponse(digest);
    const value = this.#seal(key, { request });
    for (;;) {
      if ((await this.#redis.set(key, value, 'PX', CLAIM_MS, 'NX')) === 'OK') return { claim: { key, request, value } };
      const found = await this.#redis.get(key);
      // It has expired in between.
      if (found !== null) return this.#conflictWith(key, found, request);
    }
  }

  /** While a request takes longer than a claim lasts. */
  async renew({ key }: Claim): Promise<void> {
    await this.#redis.pexpire(key, CLAIM_MS);
  }

  async keep({ key, request }: Claim, response: KeptResponse): Promise<void> {
    await this.#redis.set(key, this.#seal(key, { request, response }), 'PX', KEPT_MS);
  }

  /** The request was refused or failed: the next one with the key is carried out. */
  async release({ key, value }: Claim): Promise<void> {
    await this.#redis.deleteIfEqual(1, key, value);
  }

  #conflictWith(key: string, sealed: string, request: string): Claimed {
    const kept = this.#open(key, sealed);
    if (!kept) return { conflict: 'unreadable' };
    if (kept.request !== request) return { conflict: 'other-request' };
    return kept.response ? { response: kept.response } : { conflict: 'in-progress' };
  }

  #seal(key: string, kept: Kept): string {
    return this.#sealer.seal(JSON.stringify(kept), key);
  }

  #open(key: string, sealed: string): Kept | undefined {
    try {
      return JSON.parse(this.#sealer.open(sealed, key)) as Kept;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }
}

export const RENEW_EVERY_MS = CLAIM_MS / 3;
