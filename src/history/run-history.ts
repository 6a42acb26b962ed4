/** Runs by ID, hot or archived. */
import type { Archive } from '../archive/archive.ts';
import type { HistoryEntry, Run } from '../model/runs/run.ts';
import type { RestoredSteps } from '../store/runs/restored-steps.ts';
import type { RunStatuses } from '../store/runs/run-statuses.ts';
import type { Runs } from '../store/runs/runs.ts';

export interface RunHistoryDeps {
  runs: Runs;
  runStatuses: RunStatuses;
  restoredSteps: RestoredSteps;
  archive: Archive;
}

export class RunHistory implements Pick<Runs, 'read' | 'readMany' | 'history' | 'copySteps'> {
  readonly #deps: RunHistoryDeps;

  constructor(deps: RunHistoryDeps) {
    this.#deps = deps;
  }

  /** @throws ServiceError archive_unavailable */
  async read(env: string, id: string): Promise<Run | undefined> {
    return (await this.readMany(env, [id]))[0];
  }

  /** In the order of the IDs; runs that are not stored are left out.
   *  @throws ServiceError archive_unavailable */
  async readMany(env: string, ids: readonly string[]): Promise<Run[]> {
    const found = new Map((await this.#deps.runs.readMany(env, ids)).map((run) => [run.id, run]));
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length > 0) {
      for (const run of await this.#deps.archive.runs.readMany(env, missing)) found.set(run.id, run);
    }
    return ids.flatMap((id) => found.get(id) ?? []);
  }

  /** @throws ServiceError archive_unavailable */
  async history(env: string, id: string): Promise<HistoryEntry[]> {
    const { runs, runStatuses, archive } = this.#deps;
    const hot = await runs.history(env, id);
    if (hot.length > 0 || (await isHot(runStatuses, env, id))) return hot;
    return (await archive.runParts.history(env, id)) ?? [];
  }

  /** @throws ServiceError archive_unavailable */
  async copySteps(run: Pick<Run, 'env' | 'id' | 'retryOf' | 'fromStep'>, nowMs: number): Promise<number | undefined> {
    const { runs, restoredSteps, archive } = this.#deps;
    const copied = await runs.copySteps(run, nowMs);
    const { env, retryOf } = run;
    if (copied !== undefined || retryOf === undefined) return copied;
    const [stack, memos] = await Promise.all([
      archive.runParts.stack(env, retryOf),
      archive.runParts.memos(env, retryOf),
    ]);
    if (!stack || !memos) return undefined;
    await restoredSteps.store(env, retryOf, { stack, memos });
    const restored = await runs.copySteps(run, nowMs, true);
    await restoredSteps.remove(env, retryOf);
    return restored;
  }
}

/** Whether Redis has the run, so that its parts are nowhere else. */
export async function isHot(runStatuses: RunStatuses, env: string, id: string): Promise<boolean> {
  return (await runStatuses.of([{ env, id }])).has(id);
}
