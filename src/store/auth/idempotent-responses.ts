/** Responses to requests with an `Idempotency-Key`: a repeated request gets the first response. A request claims its key before it is
 *  executed, so that only one of two concurrent requests is. The claim of a dead process expires; the next request with the key is then
 *  executed, although the first may have been, too. Encrypted, because a response may show a secret once. */
import type { Sealer } from '../../model/auth/seal.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';

const KEPT_MS = DAY_MS;
const CLAIM_MS = 60_000;

/** Stored per key. */
interface Kept {
  /** SHA-256 of the request. */
  request: string;
  /** undefined while the request is being executed. */
  response?: KeptResponse;
}

export interface KeptResponse {
  status: number;
  /** JSON; '' for none; null if it was too large to store. */
  body: string | null;
}

/** Held while a request is executed. */
export interface Claim {
  key: string;
  request: string;
  value: string;
}

export type Claimed =
  | { claim: Claim }
  | { response: KeptResponse }
  /** `in-progress`: another request with the key is being executed; `other-request`: the key was used for a different request;
   *  `unreadable`: the response is encrypted under a SECRET_KEY that this process lacks. */
  | { conflict: 'in-progress' | 'other-request' | 'unreadable' };

export class IdempotentResponses extends Repository<ScriptedRedis, { sealer: Sealer }> {
  /** @param digest of principal, route and idempotency key
   *  @param request digest of the request */
  async claim(digest: string, request: string): Promise<Claimed> {
    const key = this.keys.idempotentResponse(digest);
    const value = this.#seal(key, { request });
    for (;;) {
      if ((await this.redis.set(key, value, 'PX', CLAIM_MS, 'NX')) === 'OK') return { claim: { key, request, value } };
      const found = await this.redis.get(key);
      // The key has expired since.
      if (found !== null) return this.#conflictWith(key, found, request);
    }
  }

  /** Extends a claim while its request is still being executed. */
  async renew({ key }: Claim): Promise<void> {
    await this.redis.pexpire(key, CLAIM_MS);
  }

  async keep({ key, request }: Claim, response: KeptResponse): Promise<void> {
    await this.redis.set(key, this.#seal(key, { request, response }), 'PX', KEPT_MS);
  }

  /** Releases the key of a rejected or failed request: the next request with it is executed. */
  async release({ key, value }: Claim): Promise<void> {
    await this.redis.deleteIfEqual(1, key, value);
  }

  #conflictWith(key: string, sealed: string, request: string): Claimed {
    const kept = this.#open(key, sealed);
    if (!kept) return { conflict: 'unreadable' };
    if (kept.request !== request) return { conflict: 'other-request' };
    return kept.response ? { response: kept.response } : { conflict: 'in-progress' };
  }

  #seal(key: string, kept: Kept): string {
    return this.deps.sealer.seal(JSON.stringify(kept), key);
  }

  #open(key: string, sealed: string): Kept | undefined {
    const opened = this.deps.sealer.tryOpen(sealed, key);
    return opened === undefined ? undefined : (JSON.parse(opened) as Kept);
  }
}

export const RENEW_EVERY_MS = CLAIM_MS / 3;
