/** Runs for lists: without outputs, which may be megabytes, unless requested. */
import type { Run } from '../../model/runs/run.ts';
import { RUN_FIELDS } from '../keys/run-fields.ts';
import { inPipelines, type Redis } from '../redis/connection.ts';
import { Repository } from '../redis/repository.ts';
import { toRun } from './run-record.ts';

const {
  output: _output,
  answeredAt: _answeredAt,
  racedAt: _racedAt,
  memoBytes: _memoBytes,
  checkpoint: _checkpoint,
  stepInput: _stepInput,
  ...LISTED_FIELDS
} = RUN_FIELDS;
const LISTED = Object.values(LISTED_FIELDS);

export class ListedRuns extends Repository<Redis> {
  /** In the order of the IDs; runs that are not stored are omitted. */
  async read(env: string, ids: readonly string[]): Promise<Run[]> {
    const found = await this.#ofEach<(string | null)[]>(env, ids, 'hmget', LISTED);
    return found.flatMap((values, i) => {
      const fields = Object.fromEntries(LISTED.map((name, n) => [name, values[n] ?? undefined]));
      return fields[RUN_FIELDS.status] ? [toRun(env, ids[i] as string, fields as Record<string, string>)] : [];
    });
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
