/** Runs that a rate limit admitted, and when: a log per value of its key. */

import { chunksOf } from '../../model/values/chunks.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

/** Runs that request admission under one limit. */
export interface AdmissionRequest {
  env: string;
  /** Digest of the key's value. */
  digest: string;
  limit: number;
  periodMs: number;
  runIds: readonly string[];
}

/** Maximum number of runs per script, which blocks Redis for less than a millisecond. */
const ADMITTED_AT_ONCE = 100;
/** How long an admitted run is remembered, unless the period is longer: a dead worker's ingest job is repeated sooner. */
const KNOWN_MS = 60_000;

export class RateLimitLogs extends Repository {
  /** @returns by run ID, for rejected runs, the time from which the next run may be admitted, Unix milliseconds */
  async admit(requests: readonly AdmissionRequest[]): Promise<Map<string, number>> {
    const portions = requests.flatMap(portionsOf);
    const commands = portions.map(({ env, digest, limit, periodMs, runIds }) => {
      const keptMs = Math.max(periodMs, KNOWN_MS);
      return ['admitToRateLimit', this.#logOf(env, digest), limit, periodMs, keptMs, ...runIds];
    });
    const results = await inPipelines<number[]>(this.redis, commands);
    const refused = new Map<string, number>();
    for (const [n, { runIds }] of portions.entries()) {
      for (const [i, runId] of runIds.entries()) {
        const until = results[n]?.[i] ?? 0;
        if (until > 0) refused.set(runId, until);
      }
    }
    return refused;
  }

  /** Returns admissions of runs that will not be created. */
  async release(runs: readonly { env: string; digest: string; runId: string }[]): Promise<void> {
    await inPipelines(
      this.redis,
      runs.map(({ env, digest, runId }) => ['zrem', this.#logOf(env, digest), runId]),
    );
  }

  #logOf(env: string, digest: string): string {
    return this.keys.homeOf(digest).rateLimit(env, digest);
  }
}

function portionsOf(request: AdmissionRequest): AdmissionRequest[] {
  return chunksOf(request.runIds, ADMITTED_AT_ONCE).map((runIds) => ({ ...request, runIds }));
}
