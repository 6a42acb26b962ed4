/** Claims on deduplication IDs. A claim stores the internal ID of the first event with the ID: repeats get the same internal ID, so that every
 *  later step is idempotent. Once that event is enqueued the claim says so, and every event that follows is certainly a repeat. Before that, it
 *  may be the same event, sent again because the first request got no answer. */

import { type Redis, replies } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';

/** From the first event with the ID. */
export const DEDUP_WINDOW_MS = 86_400_000;

export interface Claim {
  env: string;
  id: string;
  internalId: string;
}

export interface Claimed {
  /** ID that the event gets: its own, or that of the first event. */
  internalId: string;
  /** The first event with the ID is enqueued. */
  repeat: boolean;
}

const ID_LENGTH = 26;
/** Follows the ID in the claim of an event that is enqueued. */
const ENQUEUED = '+';

export class Deduplication {
  readonly #redis: Redis;
  readonly #keys: Keyspace;

  constructor(redis: Redis, keys: Keyspace) {
    this.#redis = redis;
    this.#keys = keys;
  }

  get connected(): boolean {
    return this.#redis.status === 'ready';
  }

  /** @returns the result of each claim, in order */
  async claim(claims: readonly Claim[]): Promise<Claimed[]> {
    const pipeline = this.#redis.pipeline();
    for (const { env, id, internalId } of claims) {
      pipeline.call('SET', this.#keys.deduplication(env, id), internalId, 'NX', 'GET', 'PX', DEDUP_WINDOW_MS);
    }
    const earlier = replies<string | null>(await pipeline.exec());
    return claims.map(({ internalId }, i) => {
      const claimed = earlier[i] ?? internalId;
      return { internalId: claimed.slice(0, ID_LENGTH), repeat: claimed.endsWith(ENQUEUED) };
    });
  }

  /** Marks the events of these claims as enqueued. If this fails, repeats are recognized by the stored events. */
  async confirm(claims: readonly Claim[]): Promise<void> {
    const pipeline = this.#redis.pipeline();
    for (const { env, id, internalId } of claims) {
      pipeline.set(this.#keys.deduplication(env, id), internalId + ENQUEUED, 'KEEPTTL', 'XX');
    }
    await pipeline.exec();
  }
}
