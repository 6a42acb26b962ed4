/** Steps of runs, hot or archived. */
import type { Archive } from '../archive/archive.ts';
import type { Memo, Pending } from '../model/runs/memo.ts';
import type { RunStatuses } from '../store/runs/run-statuses.ts';
import type { Steps } from '../store/runs/steps.ts';
import { isHot } from './run-history.ts';

export interface StepHistoryDeps {
  steps: Steps;
  runStatuses: RunStatuses;
  archive: Archive;
}

export class StepHistory implements Pick<Steps, 'memo' | 'memos' | 'progress'> {
  readonly #deps: StepHistoryDeps;

  constructor(deps: StepHistoryDeps) {
    this.#deps = deps;
  }

  /** @throws ServiceError archive_unavailable */
  async memo(env: string, runId: string, stepId: string): Promise<string | undefined> {
    const { steps, runStatuses, archive } = this.#deps;
    const hot = await steps.memo(env, runId, stepId);
    if (hot !== undefined || (await isHot(runStatuses, env, runId))) return hot;
    return archive.runParts.memo(env, runId, stepId);
  }

  /** @throws ServiceError archive_unavailable */
  async memos(env: string, runId: string): Promise<Record<string, Memo>> {
    const { steps, runStatuses, archive } = this.#deps;
    const hot = await steps.memos(env, runId);
    if (Object.keys(hot).length > 0 || (await isHot(runStatuses, env, runId))) return hot;
    const texts = (await archive.runParts.memos(env, runId)) ?? {};
    return Object.fromEntries(Object.entries(texts).map(([id, text]) => [id, JSON.parse(text) as Memo]));
  }

  /** An archived run has nothing pending.
   *  @throws ServiceError archive_unavailable */
  async progress(env: string, runId: string): Promise<{ pending: Map<string, Pending>; done: number }> {
    const { steps, runStatuses, archive } = this.#deps;
    const hot = await steps.progress(env, runId);
    if (hot.done > 0 || hot.pending.size > 0 || (await isHot(runStatuses, env, runId))) return hot;
    return { ...hot, done: (await archive.runParts.stack(env, runId))?.length ?? 0 };
  }
}
