/** ID of a call over a connection. It is derived: if the worker that waits for the reply dies or restarts, the job is repeated, and the
 *  next worker waits for the same reply instead of calling the function a second time. */
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';

export interface CallIdentity {
  runId: string;
  finishedSteps?: number | undefined;
  stepId?: string | undefined;
  /** Number of earlier attempts of the job. */
  attempt: number;
}

export function callIdOf(ids: PartitionedIds, { runId, finishedSteps = 0, stepId, attempt }: CallIdentity): string {
  return ids.derived(runId, 'call', stepId ?? String(finishedSteps), String(attempt));
}
