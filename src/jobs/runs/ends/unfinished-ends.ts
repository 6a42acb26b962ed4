/** Finishes the ends of runs whose process died right afterwards: removes the jobs of their steps, and notifies the runs that wait for
 *  them. This can be repeated. */
import { duty } from '../../../duties/duty.ts';
import type { Logger } from '../../../log.ts';
import { hasEnded } from '../../../model/runs/run.ts';
import { isStoreFailure } from '../../../store/redis/connection/connection.ts';
import type { Runs } from '../../../store/runs/runs.ts';
import type { UnfinishedEnds } from '../../../store/runs/unfinished-ends.ts';
import type { RunTransitions } from '../state-transitions.ts';

/** Time that a process has to finish an end itself, which takes a few milliseconds. */
const OWN_MS = 5_000;
const AGAIN_MS = 60_000;
const ENDS_AT_ONCE = 1_000;

export interface UnfinishedEndDeps {
  unfinishedEnds: UnfinishedEnds;
  runs: Pick<Runs, 'read'>;
  transitions: Pick<RunTransitions, 'finishEnd'>;
  log: Logger;
}

export const finishingEnds = duty<UnfinishedEndDeps>({
  name: 'unfinished-ends',
  about: 'Finishes the ends of runs whose process died',
  scope: 'partition',
  everyMs: 5_000,
  rounds:
    (deps) =>
    ({ partition }) =>
      finishEnds(partition, deps, Date.now()),
});

/** A failing run does not stop the others.
 *  @throws Redis's error when it rejects commands */
async function finishEnds(partition: number, deps: UnfinishedEndDeps, nowMs: number): Promise<void> {
  const { unfinishedEnds, runs, transitions, log } = deps;
  for (const { env, runId } of await unfinishedEnds.before(partition, nowMs - OWN_MS, ENDS_AT_ONCE)) {
    try {
      const run = await runs.read(env, runId);
      if (run && hasEnded(run)) await transitions.finishEnd(run);
      else await unfinishedEnds.finish(env, runId);
    } catch (error) {
      if (isStoreFailure(error)) throw error;
      log.warn({ run_id: runId, env, err: (error as Error).message }, 'the end of a run could not be finished');
      await unfinishedEnds.postpone(env, runId, nowMs + AGAIN_MS);
    }
  }
}
