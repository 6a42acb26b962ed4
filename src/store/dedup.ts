/** Claims on deduplication IDs. The claim holds the internal ID of the first event that made it, so that a repeat carries its
 *  first's ID and every later step stays harmless (spec 8). */
import type { Keyspace } from './keyspace.ts';
import { type Redis, replies } from './redis.ts';

/** From the first event with the ID (spec 8). */
export const DEDUP_WINDOW_MS = 86_400_000;

export interface Claim {
  env: string;
  id: string;
  internalId: string;
}

export class Dedup {
  readonly #redis: Redis;
  readonly #keys: Keyspace;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  get connected(): boolean {
    return this.#redis.status === 'ready';
  }

  /** For each claim, in order, the internal ID that its event is to carry: the claim's own, or that of an earlier one. */
  async claim(claims: readonly Claim[]): Promise<string[]> {
    const pipeline = this.#redis.pipeline();
    for (const { env, id, internalId } of claims) {
      pipeline.call('SET', this.#keys.dedup(env, id), internalId, 'NX', 'GET', 'PX', DEDUP_WINDOW_MS);
    }
    const earlier = replies<string | null>(await pipeline.exec());
    return claims.map(({ internalId }, i) => earlier[i] ?? internalId);
  }
}
