/** Runs: their records, steps and waits, active runs, and lists. */
import { Sealer } from '../../model/auth/seal.ts';
import type { StoreContext } from '../store-context.ts';
import { ActiveRuns } from './active-runs.ts';
import { ArchivableRuns } from './archivable-runs.ts';
import { Checkpoints } from './checkpoints.ts';
import { Defers } from './defers.ts';
import { EndedRunIndex } from './ended-run-index.ts';
import { InvocationClaims } from './invocation-claims.ts';
import { LastWakes } from './last-wakes.ts';
import { OffloadedRunAlarms } from './offloaded-run-alarms.ts';
import { OffloadedRuns } from './offloaded-runs.ts';
import { PausedRuns } from './paused-runs.ts';
import { PossibleWaits } from './possible-waits.ts';
import { RestoredSteps } from './restored-steps.ts';
import { RunHistogram } from './run-histogram.ts';
import { RunLists } from './run-lists.ts';
import { RunLogs } from './run-logs.ts';
import { RunMetadata } from './run-metadata.ts';
import { RunParts } from './run-parts.ts';
import { RunStatuses } from './run-statuses.ts';
import { Runs } from './runs.ts';
import { SealedRequests } from './sealed-requests.ts';
import { Signals } from './signals.ts';
import { Steps } from './steps.ts';
import { UnfinishedEnds } from './unfinished-ends.ts';
import { Waits } from './waits.ts';
import { WholeRuns } from './whole-runs.ts';

export function createRunStore({ redis, keys, config }: StoreContext) {
  const { hotTtlMs: retentionMs, reconcileAfterMs, keyPrefix, secretKey, secretKeyFallback } = config;
  const offloadedRuns = new OffloadedRuns(redis, keys, { reconcileAfterMs, keyPrefix });
  const endedRuns = new EndedRunIndex(redis, keys, {});
  const waits = new Waits(redis, keys);
  return {
    runs: new Runs(redis, keys, { waits, offloadedRuns, retentionMs }),
    runParts: new RunParts(redis, keys, { offloadedRuns }),
    runMetadata: new RunMetadata(redis, keys, { offloadedRuns }),
    runLogs: new RunLogs(redis, keys, { offloadedRuns }),
    runStatuses: new RunStatuses(redis, keys, { offloadedRuns }),
    runLists: new RunLists(redis, keys, { endedRuns, offloadedRuns }),
    runHistogram: new RunHistogram(redis, keys, { endedRuns }),
    wholeRuns: new WholeRuns(redis, keys),
    activeRuns: new ActiveRuns(redis, keys),
    offloadedRuns,
    offloadedRunAlarms: new OffloadedRunAlarms(redis, keys),
    lastWakes: new LastWakes(redis, keys, { offloadedRuns }),
    pausedRuns: new PausedRuns(redis, keys),
    unfinishedEnds: new UnfinishedEnds(redis, keys),
    archivableRuns: new ArchivableRuns(redis, keys),
    steps: new Steps(redis, keys, { retentionMs, offloadedRuns }),
    restoredSteps: new RestoredSteps(redis, keys),
    checkpoints: new Checkpoints(redis, keys),
    waits,
    possibleWaits: new PossibleWaits(redis, keys),
    signals: new Signals(redis, keys, { offloadedRuns }),
    defers: new Defers(redis, keys),
    invocationClaims: new InvocationClaims(redis, keys),
    requests: new SealedRequests(redis, keys, { sealer: new Sealer(secretKey, secretKeyFallback) }),
  };
}
