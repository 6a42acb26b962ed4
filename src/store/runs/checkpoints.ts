/** Checkpoints: steps that finish while a call, or an endpoint's request, is in flight. The run then continues with its owner, recorded
 *  in the run's field `checkpoint` (run-record.ts). */
import { MAX_STATE_BYTES, MAX_STEPS } from '../../model/runs/memo.ts';
import type { HistoryEntry, Run } from '../../model/runs/run.ts';
import { Repository } from '../redis/repository.ts';
import { memberOf } from './active-runs.ts';
import { encodeHistoryEntry } from './history-entries.ts';
import { toRun } from './run-record.ts';

/** The owner while an endpoint's own request executes the run. */
export const ENDPOINT = 'endpoint';

export interface FinishedStep {
  id: string;
  /** JSON text. */
  memo: string;
  /** undefined if it is already in the history. */
  entry?: HistoryEntry | undefined;
}

/** Who may store steps and continue the run. */
export interface Owner {
  /** The number of finished steps that the call was made for, or another name. */
  name: string;
  /** The job of a call, and its number of executions: an earlier execution no longer owns the run. */
  job?: { key: string; executions: number };
  /** Time of the next reconciliation, Unix milliseconds. */
  reconcileAt: number;
}

export type CheckpointOutcome =
  | { outcome: 'stored' | 'steps' | 'bytes'; stackLength: number; run: Run }
  | { outcome: 'stale' | 'ended' | 'gone' };

export class Checkpoints extends Repository {
  /** Stores the results of all steps, or of none. An earlier memo of a step is kept.
   *  @param owner undefined: the steps came with the response to a call
   *  @param race the results are in race mode: the run continues although other steps are pending */
  async store(
    env: string,
    runId: string,
    steps: readonly FinishedStep[],
    owner?: Owner,
    race = false,
  ): Promise<CheckpointOutcome> {
    const reply = (await this.redis.storeMemos(
      this.keys.of(runId).run(env, runId),
      this.keys.of(runId).activeRuns,
      owner?.job?.key ?? this.keys.of(runId).run(env, runId),
      owner?.name ?? '',
      owner?.job?.executions ?? '',
      MAX_STEPS,
      MAX_STATE_BYTES,
      memberOf(env, runId),
      owner?.reconcileAt ?? '',
      +race,
      ...steps.flatMap(({ id, memo, entry }) => [id, memo, entry ? encodeHistoryEntry(entry) : '']),
    )) as [outcome: CheckpointOutcome['outcome'], stackLength: number, fields: string];
    const [outcome, stackLength, fields] = reply;
    if (outcome === 'stale' || outcome === 'ended' || outcome === 'gone') return { outcome };
    return { outcome, stackLength, run: toRun(env, runId, JSON.parse(fields) as Record<string, string>) };
  }

  /** Ends the ownership, so that another call can continue the run. Repeating it has no further effect, but returns undefined.
   *  @returns the number of finished steps; undefined if the owner has stored none since it began, or no longer owns the run */
  async handOver(env: string, runId: string, owner: string): Promise<number | undefined> {
    const length = (await this.redis.handOver(this.keys.of(runId).run(env, runId), owner)) as number | null;
    return length ?? undefined;
  }
}
