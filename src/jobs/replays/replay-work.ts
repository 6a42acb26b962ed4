/** Replays of events as bulk operations: starts runs while there is room for them, then follows them to their ends. */
import type { Replay, ReplayDefinition, ReplayPosition } from '../../model/replays/replay.ts';
import { HOUR_MS } from '../../model/values/time.ts';
import type { BulkOperations } from '../../store/bulk/bulk-operations.ts';
import type { BulkLoad } from '../bulk/bulk-load.ts';
import type { BulkWork } from '../bulk/bulk-work.ts';
import { cancelActiveRuns, checkActiveRuns, type EndedRunsDeps } from './ended-runs.ts';
import { doReplayPortion, type PortionDeps, settleInterrupted } from './replay-portion.ts';

/** Maximum number of active runs of a replay, which bounds its memory. */
const ACTIVE_RUNS_MAX = 50_000;
/** Minimum time between checks of active runs. */
const CHECK_MIN_MS = 15_000;
const CHECK_MAX_MS = HOUR_MS;

export interface ReplayWorkDeps extends PortionDeps, EndedRunsDeps {
  replays: BulkOperations<ReplayDefinition, ReplayPosition>;
  load: Pick<BulkLoad, 'reasonToWait'>;
}

export function replayWork(deps: ReplayWorkDeps): BulkWork<ReplayDefinition, ReplayPosition> {
  return {
    operations: deps.replays,
    inArchivedEnvironments: 'waits',
    async reasonToWait(replay) {
      if ((replay.counts.active ?? 0) < ACTIVE_RUNS_MAX) return deps.load.reasonToWait(Date.now());
      await checkActiveRuns(replay, deps);
      return 'active_runs';
    },
    doPortion: (replay, signal) => doReplayPortion(replay, deps, signal),
    async settle(replay, signal) {
      if (await settleInterrupted(replay, deps)) return 0;
      if (replay.status === 'paused') return undefined;
      return replay.status === 'cancelling' ? cancelRuns(replay, deps, signal) : checkRuns(replay, deps);
    },
  };
}

async function cancelRuns(replay: Replay, deps: ReplayWorkDeps, signal: AbortSignal): Promise<number> {
  const isMore = await cancelActiveRuns(replay, deps, signal);
  if (!isMore) await deps.replays.change(replay, 'cancelled', ['cancelling'], Date.now());
  return 0;
}

async function checkRuns(replay: Replay, deps: ReplayWorkDeps): Promise<number | undefined> {
  const { doneAt = 0, counts } = replay;
  if (!counts.active) return undefined;
  await checkActiveRuns(replay, deps);
  return Math.min(Math.max((Date.now() - doneAt) / 4, CHECK_MIN_MS), CHECK_MAX_MS);
}
