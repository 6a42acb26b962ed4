/** Runs for lists: without outputs, which may be megabytes, unless requested. */
import { isArchiveUnavailable } from '../../errors.ts';
import type { Run } from '../../model/runs/run.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { inPipelines, type Redis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';
import type { OffloadedRecord } from './offloaded-run.ts';
import type { OffloadedRuns } from './offloaded-runs.ts';
import { toRun } from './run-record.ts';

const {
  output: _output,
  answeredAt: _answeredAt,
  racedAt: _racedAt,
  memoBytes: _memoBytes,
  checkpoint: _checkpoint,
  stepInput: _stepInput,
  packed: _packed,
  ...LISTED_FIELDS
} = RUN_FIELDS;
const LISTED = Object.values(LISTED_FIELDS);

export class ListedRuns extends Repository<Redis, { offloadedRuns: OffloadedRuns }> {
  /** The result is in the order of the IDs; runs that are not stored are omitted.
   *  @param whenUnavailable whether offloaded runs are left out while Postgres is down
   *  @throws ServiceError archive_unavailable */
  async read(env: string, ids: readonly string[], whenUnavailable: 'throw' | 'omit' = 'throw'): Promise<Run[]> {
    const all = await this.#fields(env, ids);
    const missing = ids.filter((id) => !all.has(id));
    const { offloadedRuns } = this.deps;
    if (missing.length > 0 && offloadedRuns.mayExist) {
      const offloaded = await offloadedRuns.records(env, missing).catch((error) => {
        if (isArchiveUnavailable(error) && whenUnavailable === 'omit') return new Map<string, OffloadedRecord>();
        throw error;
      });
      for (const [id, { fields }] of offloaded) all.set(id, fields);
      // The other runs may have come back from Postgres a moment ago.
      const others = missing.filter((id) => !offloaded.has(id));
      for (const [id, fields] of await this.#fields(env, others)) all.set(id, fields);
    }
    return ids.flatMap((id) => {
      const fields = all.get(id);
      return fields ? [toRun(env, id, fields)] : [];
    });
  }

  /** The result is keyed by ID; runs that are not in Redis are omitted. */
  async #fields(env: string, ids: readonly string[]): Promise<Map<string, Record<string, string>>> {
    const found = await this.#ofEach<(string | null)[]>(env, ids, 'hmget', LISTED);
    const all = new Map<string, Record<string, string>>();
    for (const [i, values] of found.entries()) {
      const fields = Object.fromEntries(LISTED.map((name, n) => [name, values[n] ?? undefined]));
      if (fields[RUN_FIELDS.status]) all.set(ids[i] as string, fields as Record<string, string>);
    }
    return all;
  }

  /** Size in bytes, in the order of the IDs; 0: no output. */
  outputSizes(env: string, ids: readonly string[]): Promise<number[]> {
    return this.#ofEach(env, ids, 'hstrlen', [RUN_FIELDS.output]);
  }

  /** JSON texts, in the order of the IDs; null: no output. */
  outputs(env: string, ids: readonly string[]): Promise<(string | null)[]> {
    return this.#ofEach(env, ids, 'hget', [RUN_FIELDS.output]);
  }

  #ofEach<T>(env: string, ids: readonly string[], command: string, fields: readonly string[]): Promise<T[]> {
    return inPipelines(
      this.redis,
      ids.map((id) => [command, this.keys.of(id).run(env, id), ...fields]),
    );
  }
}
