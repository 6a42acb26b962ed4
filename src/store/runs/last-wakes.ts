/** Finds when the last of the runs that are pinned to a version wakes, at bounded cost
 *  (docs/change-code-safely.md#see-what-is-needed). */
import { type Pin, pinText } from '../../model/apps/versions.ts';
import { chunksOf } from '../../model/values/chunks.ts';
import { type Command, inPipelines } from '../redis/connection/connection.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import { memberOf } from './active-runs.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';
import { pendingStepsOf } from './pending-steps.ts';

/** Number of runs whose steps are read: those with the latest alarms. */
const READ_MAX = 100;
const ALARMS_AT_ONCE = 500;

export class LastWakes extends Repository<ScriptedRedis, { offloadedRuns: OffloadedRuns }> {
  /** The latest end of a sleep, or timeout of a wait, by which a run continues; Unix milliseconds. Exact for up to 100 runs. Of more runs,
   *  those that began to sleep in the last two minutes have no alarm yet, and may be missed.
   *  @param runsMax maximum number of runs examined, the newest
   *  @returns undefined: none sleeps, or waits with a timeout */
  async of(env: string, pin: Pin, runsMax: number): Promise<number | undefined> {
    const ids = await this.#newest(env, pin, runsMax);
    const alarms = ids.length > READ_MAX ? await this.#alarms(env, ids) : new Map<string, number>();
    const late = ids.toSorted((a, b) => (alarms.get(b) ?? 0) - (alarms.get(a) ?? 0)).slice(0, READ_MAX);
    const runs = late.map((id) => ({ env, id }));
    const steps = await pendingStepsOf(this.redis, this.keys, this.deps.offloadedRuns, runs);
    const wakes = steps.flatMap(({ pending }) => {
      const ends = [...pending.values()].flatMap(({ until }) => until ?? []);
      return ends.length > 0 ? [Math.min(...ends)] : [];
    });
    return wakes.length > 0 ? Math.max(...wakes) : undefined;
  }

  async #newest(env: string, pin: Pin, runsMax: number): Promise<string[]> {
    const partitions = this.keys.all();
    const last = Math.ceil(runsMax / partitions.length) - 1;
    const lists = await inPipelines<string[]>(
      this.redis,
      partitions.map(({ pinnedRuns }) => ['zrange', pinnedRuns(env, pinText(pin)), 0, last, 'REV']),
    );
    return lists.flat();
  }

  /** Times of the next reconciliation of runs in Redis, and of the return of offloaded runs. Both come shortly before the run wakes. */
  async #alarms(env: string, ids: readonly string[]): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for (const [keys, own] of Map.groupBy(ids, (id) => this.keys.of(id))) {
      const chunks = [...chunksOf(own, ALARMS_AT_ONCE)];
      const commands = chunks.map(
        (some): Command => ['zmscore', keys.activeRuns, ...some.map((id) => memberOf(env, id))],
      );
      const scores = (await inPipelines<(string | null)[]>(this.redis, commands)).flat();
      for (const [i, id] of own.entries()) if (scores[i] != null) found.set(id, Number(scores[i]));
    }
    const offloaded = ids.filter((id) => !found.has(id));
    for (const [id, at] of await this.deps.offloadedRuns.alarms(env, offloaded)) found.set(id, at);
    return found;
  }
}
