/** Statuses of runs, without other fields. */
import type { RunStatus } from '../../model/runs/run.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { inPipelines } from '../redis/connection/connection.ts';
import type { ScriptedRedis } from '../redis/connection/scripts.ts';
import { Repository } from '../redis/repository.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';

export class RunStatuses extends Repository<ScriptedRedis, { offloadedRuns: OffloadedRuns }> {
  /** The result is keyed by run ID; runs that are not stored are omitted. */
  async of(runs: readonly { env: string; id: string }[]): Promise<Map<string, RunStatus>> {
    const found = await this.#ofHot(runs);
    const missing = runs.filter(({ id }) => !found.has(id));
    const { offloadedRuns } = this.deps;
    if (missing.length === 0 || !offloadedRuns.mayExist) return found;
    for (const [env, ofEnv] of Map.groupBy(missing, (run) => run.env)) {
      const ids = ofEnv.map(({ id }) => id);
      for (const id of await offloadedRuns.which(env, ids)) found.set(id, 'Running');
    }
    // The other runs may have come back from Postgres a moment ago.
    const others = missing.filter(({ id }) => !found.has(id));
    return new Map([...found, ...(await this.#ofHot(others))]);
  }

  async #ofHot(runs: readonly { env: string; id: string }[]): Promise<Map<string, RunStatus>> {
    const commands = runs.map(({ env, id }) => ['hget', this.keys.of(id).run(env, id), RUN_FIELDS.status]);
    const statuses = await inPipelines<RunStatus | null>(this.redis, commands);
    return new Map(statuses.flatMap((status, i) => (status ? [[(runs[i] as { id: string }).id, status]] : [])));
  }
}
