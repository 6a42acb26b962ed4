/** Claims on deduplication IDs. A claim stores the internal ID of the first event with the ID; repeats get the same internal ID, so that
 *  every later step is idempotent. The job of that event marks its claim (jobs/queues/claimed-jobs.ts), and every later event is certainly a
 *  repeat. Before that, it may be the same event, sent again because the first request got no response. */

import { DAY_MS } from '../../model/values/time.ts';
import { inPipelines, replies } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** How long an ID is remembered, from the first event with the ID. */
const DEDUP_WINDOW_MS = DAY_MS;

export interface Claim {
  env: string;
  id: string;
  internalId: string;
}

export interface Claimed {
  /** Internal ID of the event, or of the first event with the same deduplication ID. */
  internalId: string;
  /** Whether the first event with the ID is enqueued. */
  repeat: boolean;
}

const ID_LENGTH = 26;
/** Follows the internal ID in the claim of an enqueued event. */
export const ENQUEUED = '+';

/** @param claim the value of a claim */
export function readClaim(claim: string): Claimed {
  return { internalId: claim.slice(0, ID_LENGTH), repeat: claim.endsWith(ENQUEUED) };
}

export class Deduplication extends Repository {
  get connected(): boolean {
    return this.redis.status === 'ready';
  }

  /** Claims IDs in the partitions of the internal IDs; one commit covers one partition.
   *  @returns the result of each claim, in order */
  async claim(claims: readonly Claim[]): Promise<Claimed[]> {
    const pipeline = this.redis.pipeline();
    for (const { env, id, internalId } of claims) {
      const key = this.keys.of(internalId).deduplication(env, id);
      pipeline.call('SET', key, internalId, 'NX', 'GET', 'PX', DEDUP_WINDOW_MS);
    }
    const earlier = replies<string | null>(await pipeline.exec());
    return claims.map(({ internalId }, i) => readClaim(earlier[i] ?? internalId));
  }

  /** Claims IDs in given partitions.
   *  @returns for each, the internal ID of the event that holds the claim */
  async claimIn(claims: readonly (Claim & { partition: number })[]): Promise<string[]> {
    const commands = claims.map(({ partition, env, id, internalId }) => {
      const key = this.keys.partition(partition).deduplication(env, id);
      return ['set', key, internalId, 'NX', 'GET', 'PX', DEDUP_WINDOW_MS];
    });
    const earlier = await inPipelines<string | null>(this.redis, commands);
    return claims.map(({ internalId }, i) => (earlier[i] ?? internalId).slice(0, ID_LENGTH));
  }
}
