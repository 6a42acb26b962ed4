/** Adds the states of runs to live updates. A worker knows what happened to a run, but not always its state, which also
 *  depends on other steps and on the limits of its function. Reading the state takes pipelines, so it is read only while clients watch. */
import type { RunStates } from '../../jobs/runs/run-states.ts';
import { shortErrorText } from '../../model/runs/error-text.ts';
import { hasEnded, type Run } from '../../model/runs/run.ts';
import type { RunState } from '../../model/runs/run-state.ts';
import { Composed } from '../../model/values/composed.ts';
import type { ListedRuns } from '../../store/runs/listed-runs.ts';
import type { LiveRun, LiveUpdate } from '../../store/telemetry/live-updates.ts';

export class LiveRunStates extends Composed<{ listed: Pick<ListedRuns, 'read'>; runStates: Pick<RunStates, 'of'> }> {
  /** @returns the updates; without states if Redis does not respond, because updates are only hints */
  async addTo(env: string, updates: readonly LiveUpdate[]): Promise<readonly LiveUpdate[]> {
    try {
      return await Promise.all(
        updates.map(async (update) => {
          if (update.kind !== 'runs') return update;
          return { ...update, items: await this.#withStates(env, update.items as LiveRun[]) };
        }),
      );
    } catch {
      return updates;
    }
  }

  async #withStates(env: string, items: readonly LiveRun[]): Promise<LiveRun[]> {
    const { listed, runStates } = this.deps;
    const active = items.filter((item) => !hasEnded(item)).map(({ id }) => id);
    if (active.length === 0) return [...items];
    const runs = new Map((await listed.read(env, active)).map((run) => [run.id, run]));
    const states = await runStates.of([...runs.values()]);
    return items.map((item) => {
      const run = runs.get(item.id);
      return run ? { ...item, ...factsOf(run, states.get(run.id)) } : item;
    });
  }
}

/** Updates of two processes may arrive in the wrong order. */
function factsOf({ status, queuedAt, startedAt, endedAt, error }: Run, state: RunState | undefined): Partial<LiveRun> {
  return {
    status,
    queuedAt,
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(hasEnded({ status }) ? { error: shortErrorText(error) } : state && { state }),
  };
}
