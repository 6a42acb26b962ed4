/** Outputs of runs in lists, hot or archived. */
import type { Archive } from '../archive/archive.ts';
import { Composed } from '../model/values/composed.ts';
import type { ListedRuns } from '../store/runs/listed-runs.ts';
import type { RunStatuses } from '../store/runs/run-statuses.ts';

export class ListedRunHistory
  extends Composed<{
    listed: ListedRuns;
    runStatuses: RunStatuses;
    archive: Archive;
  }>
  implements Pick<ListedRuns, 'outputSizes' | 'outputs'>
{
  /** Bytes, in the order of the IDs; 0: no output.
   *  @throws ServiceError archive_unavailable */
  async outputSizes(env: string, ids: readonly string[]): Promise<number[]> {
    const sizes = await this.deps.listed.outputSizes(env, ids);
    const archived = await this.#archived(
      env,
      ids.filter((_, i) => sizes[i] === 0),
    );
    const found = archived.length === 0 ? undefined : await this.deps.archive.runs.outputSizes(env, archived);
    return sizes.map((size, i) => size || (found?.get(ids[i] as string) ?? 0));
  }

  /** JSON texts, in the order of the IDs; null: no output.
   *  @throws ServiceError archive_unavailable */
  async outputs(env: string, ids: readonly string[]): Promise<(string | null)[]> {
    const outputs = await this.deps.listed.outputs(env, ids);
    const archived = await this.#archived(
      env,
      ids.filter((_, i) => outputs[i] === null),
    );
    const found = archived.length === 0 ? undefined : await this.deps.archive.runs.outputs(env, archived);
    return outputs.map((output, i) => output ?? found?.get(ids[i] as string) ?? null);
  }

  /** The runs that Redis does not have. */
  async #archived(env: string, ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const hot = await this.deps.runStatuses.of(ids.map((id) => ({ env, id })));
    return ids.filter((id) => !hot.has(id));
  }
}
