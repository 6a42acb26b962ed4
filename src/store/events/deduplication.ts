/** Claims on deduplication IDs. The claim holds the internal ID of the first event that made it, so that a repeat carries its
 *  first's ID and every later step stays harmless (docs/events.md#deduplication). Once that event is enqueued the claim
 *  says so: what comes then is a repeat
 *  for certain, whichever of the two is ingested first. Before, it may be the same event, sent again because nobody answered. */

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
  /** What the event is to carry: the claim's own ID, or that of an earlier one. */
  internalId: string;
  /** The first event with the ID has been enqueued. */
  repeat: boolean;
}

const ID_LENGTH = 26;
/** After the ID in a claim whose event is enqueued. */
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

  /** What each claim came to, in order. */
  async claim(claims: readonly Claim[]): Promise<Claimed[]> {
    const pipeline = this.#redis.pipeline();
    for (const { env, id, internalId } of claims) {
      pipeline.call('SET', this.#keys.deduplication(env, id), internalId, 'NX', 'GET', 'PX', DEDUP_WINDOW_MS);
    }
    const earlier = replies<string | null>(await pipeline.exec());
    return claims.map(({ internalId }, i) => {
      const held = earlier[i] ?? internalId;
      return { internalId: held.slice(0, ID_LENGTH), repeat: held.endsWith(ENQUEUED) };
    });
  }

  /** Notes that the events of these claims are enqueued. Without this note, were it to fail, repeats are told by what is stored. */
  async confirm(claims: readonly Claim[]): Promise<void> {
    const pipeline = this.#redis.pipeline();
    for (const { env, id, internalId } of claims) {
      pipeline.set(this.#keys.deduplication(env, id), internalId + ENQUEUED, 'KEEPTTL', 'XX');
    }
    await pipeline.exec();
  }
}
