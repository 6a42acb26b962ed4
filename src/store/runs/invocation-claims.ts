/** Claims on idempotency keys of invocations: the event of the first invocation with a key holds it for a day. Once its run is started, the
 *  claim is marked. Before that, the process of the first invocation may have died halfway. */
import { FUNCTION_INVOKED } from '../../model/events/function-events.ts';
import { keyDigestOf } from '../../model/flow-control/key-digest.ts';
import { DAY_MS } from '../../model/values/time.ts';
import { type Claimed, ENQUEUED, readClaim } from '../events/deduplication.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** How long a key is remembered, from the first invocation with it. */
const INVOCATION_WINDOW_MS = DAY_MS;

export interface InvocationKey {
  env: string;
  functionId: string;
  key: string;
}

export class InvocationClaims extends Repository {
  /** Claims a key for an event.
   *  @returns the event that holds the key, and whether its run is started */
  async claim(key: InvocationKey, eventId: string): Promise<Claimed> {
    const claimed = await this.redis.set(this.#keyOf(key), eventId, 'PX', INVOCATION_WINDOW_MS, 'NX', 'GET');
    return readClaim(claimed ?? eventId);
  }

  /** Marks the run of the event as started. If this fails, repeats are recognized by the stored event. */
  async confirm(key: InvocationKey, eventId: string): Promise<void> {
    await this.redis.set(this.#keyOf(key), eventId + ENQUEUED, 'KEEPTTL', 'XX');
  }

  /** Claims where earlier versions made them: among deduplication IDs, in any partition. An event that a sender gave this ID is there, too. */
  async formerlyClaimed({ env, functionId, key }: InvocationKey): Promise<Claimed[]> {
    const id = `${FUNCTION_INVOKED}:${functionId}:${key}`;
    const found = await inPipelines<string | null>(
      this.redis,
      this.keys.all().map(({ deduplication }) => ['get', deduplication(env, id)]),
    );
    return found.flatMap((claim) => (claim === null ? [] : [readClaim(claim)]));
  }

  /** The permanent partition of the key: claims stay in one place when partitions are added. */
  #keyOf({ env, functionId, key }: InvocationKey): string {
    const digest = keyDigestOf(env, functionId, undefined, key);
    return this.keys.homeOf(digest).invocationClaim(env, digest);
  }
}
