/** The active runs of a replay that has started all its runs. The process that ends a run counts it (runs/state-transitions.ts). Runs whose
 *  process died before counting are counted here, and runs of a cancelled replay are cancelled here. */
import type { History } from '../../history/history.ts';
import type { BulkOperationRef } from '../../model/bulk/bulk-operation.ts';
import { hasEnded } from '../../model/runs/run.ts';
import type { Store } from '../../store/store.ts';
import type { RunTransitions } from '../runs/state-transitions.ts';

const CHECKED_AT_ONCE = 200;
const CANCELLED_AT_ONCE = 100;

export interface EndedRunsDeps extends Pick<Store, 'replayedRuns'> {
  runs: Pick<Store['runs'], 'readMany'>;
  history: Pick<History, 'runs'>;
  transitions: Pick<RunTransitions, 'cancel'>;
}

/** Checks a random sample of the active runs. */
export async function checkActiveRuns(
  replay: BulkOperationRef,
  { replayedRuns, runs, history }: EndedRunsDeps,
): Promise<void> {
  const { env } = replay;
  const ids = await replayedRuns.someActive(replay, CHECKED_AT_ONCE);
  const hot = await runs.readMany(env, ids);
  const there = new Set(hot.map((run) => run.id));
  const missing = ids.filter((id) => !there.has(id));
  const archived = await history.runs.readMany(env, missing);
  for (const run of [...hot, ...archived]) if (hasEnded(run)) await replayedRuns.recordEnd(replay, run.id, run.status);
  const found = new Set(archived.map((run) => run.id));
  await replayedRuns.forget(
    replay,
    missing.filter((id) => !found.has(id)),
  );
}

/** @returns whether there are more */
export async function cancelActiveRuns(
  replay: BulkOperationRef,
  { replayedRuns, transitions }: EndedRunsDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const { env, id } = replay;
  const ids = await replayedRuns.someActive(replay, CANCELLED_AT_ONCE);
  for (const runId of ids) {
    if (signal.aborted) return true;
    const run = await transitions.cancel(env, runId, { cause: 'replay', id });
    if (run && hasEnded(run)) await replayedRuns.recordEnd(replay, runId, run.status);
    else await replayedRuns.forget(replay, [runId]);
  }
  return ids.length > 0;
}
