/** Runs by ID, hot or archived. */
import type { Archive } from '../archive/archive.ts';
import type { Run } from '../model/runs/run.ts';
import { Composed } from '../model/values/composed.ts';
import type { Store } from '../store/store.ts';

export interface RunHistoryDeps extends Pick<Store, 'runs' | 'restoredSteps' | 'offloadedRuns'> {
  archive: Archive;
}

export class RunHistory
  extends Composed<RunHistoryDeps>
  implements Pick<Store['runs'], 'read' | 'readMany' | 'present' | 'copySteps'>
{
  /** @throws ServiceError archive_unavailable */
  async read(env: string, id: string): Promise<Run | undefined> {
    return (await this.readMany(env, [id]))[0];
  }

  /** The result is in the order of the IDs; runs that are not stored are omitted.
   *  @throws ServiceError archive_unavailable */
  async readMany(env: string, ids: readonly string[]): Promise<Run[]> {
    const found = new Map((await this.deps.runs.readMany(env, ids)).map((run) => [run.id, run]));
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length > 0) {
      for (const run of await this.deps.archive.runs.readMany(env, missing)) found.set(run.id, run);
    }
    return ids.flatMap((id) => found.get(id) ?? []);
  }

  /** IDs of the runs that are stored.
   *  @throws ServiceError archive_unavailable */
  async present(env: string, ids: readonly string[]): Promise<Set<string>> {
    const present = await this.deps.runs.present(env, ids);
    const others = ids.filter((id) => !present.has(id));
    if (others.length === 0) return present;
    return new Set([...present, ...(await this.deps.archive.runs.present(env, others))]);
  }

  /** @throws ServiceError archive_unavailable */
  async copySteps(run: Pick<Run, 'env' | 'id' | 'retryOf' | 'fromStep'>, nowMs: number): Promise<number | undefined> {
    const { runs, offloadedRuns, restoredSteps, archive } = this.deps;
    const { env, retryOf } = run;
    let copied = await runs.copySteps(run, nowMs);
    if (copied !== undefined || retryOf === undefined) return copied;
    if (await offloadedRuns.bringBack(env, [retryOf])) copied = await runs.copySteps(run, nowMs);
    if (copied !== undefined) return copied;
    const archived = await archive.runParts.findMany(env, retryOf, 'stack', 'memos');
    if (!archived) return undefined;
    const { stack = [], memos = {} } = archived;
    await restoredSteps.store(env, retryOf, { stack, memos });
    const restored = await runs.copySteps(run, nowMs, true);
    await restoredSteps.remove(env, retryOf);
    return restored;
  }
}
