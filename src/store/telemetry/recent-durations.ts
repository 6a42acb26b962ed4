/** The last durations of a function's runs and steps, stored individually: percentiles of a few are exact. */
import { createHash } from 'node:crypto';
import { EXACT_BELOW, type RecentDuration } from '../../model/capacity/percentiles.ts';
import { WEEK_MS } from '../../model/values/time.ts';
import { inPipelines, type Redis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import { type BufferedFunction, OTHER_STEPS } from './function-buffer.ts';

const KEPT_MS = WEEK_MS;

export class RecentDurations extends Repository {
  /** Adds commands to the transaction that adds the counts. */
  add(
    writing: ReturnType<Redis['multi']>,
    { env, id, counted, nowMs }: { env: string; id: string; counted: BufferedFunction; nowMs: number },
  ): void {
    const lists = [
      ['', counted.recent] as const,
      ...[...counted.steps].map(([name, { recent }]) => [name, recent] as const),
    ];
    for (const [i, [name, recent]] of lists.entries()) {
      // Steps that are counted together have no name.
      if (recent.length === 0 || (i > 0 && name === OTHER_STEPS)) continue;
      const key = this.#key(env, id, i === 0 ? undefined : name);
      writing.rpush(key, ...recent.map((ms) => `${nowMs}:${ms}`));
      writing.ltrim(key, 1 - EXACT_BELOW, -1);
      writing.pexpire(key, KEPT_MS);
    }
  }

  /** Durations of the runs (undefined) and of steps by name, in the order of `names`. */
  async read(env: string, id: string, names: readonly (string | undefined)[]): Promise<RecentDuration[][]> {
    const lists = await inPipelines<string[]>(
      this.redis,
      names.map((name) => ['lrange', this.#key(env, id, name), 0, -1]),
    );
    return lists.map((entries) =>
      entries.map((entry) => {
        const [at, ms] = entry.split(':', 2);
        return { at: Number(at), ms: Number(ms) };
      }),
    );
  }

  #key(env: string, id: string, step: string | undefined): string {
    const digest = step === undefined ? '' : createHash('sha1').update(step).digest('base64url');
    return this.keys.recentDurations(env, digest, id);
  }
}
