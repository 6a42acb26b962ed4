/** Claims of runs on values of an idempotency key: the first run with a value holds it for a day. */

import { DAY_MS } from '../../model/values/time.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** How long a run holds a value, from the creation of the first run with the value. */
const IDEMPOTENCY_WINDOW_MS = DAY_MS;

export interface IdempotencyClaim {
  env: string;
  /** Digest of the key's value. */
  digest: string;
  runId: string;
}

export class IdempotencyClaims extends Repository {
  /** @returns for each claim, in order, the run that holds the value: its own or an earlier one */
  async claim(claims: readonly IdempotencyClaim[]): Promise<string[]> {
    const holders = await inPipelines<string | null>(
      this.redis,
      claims.map(({ env, digest, runId }) => {
        return ['set', this.#keyOf(env, digest), runId, 'NX', 'GET', 'PX', IDEMPOTENCY_WINDOW_MS];
      }),
    );
    return claims.map(({ runId }, i) => holders[i] ?? runId);
  }

  /** Releases the values that these runs hold. */
  async release(claims: readonly IdempotencyClaim[]): Promise<void> {
    await inPipelines(
      this.redis,
      claims.map(({ env, digest, runId }) => ['renewLock', this.#keyOf(env, digest), runId, 0]),
    );
  }

  #keyOf(env: string, digest: string): string {
    return this.keys.homeOf(digest).idempotency(env, digest);
  }
}
