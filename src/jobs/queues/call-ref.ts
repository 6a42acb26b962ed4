/** References to calls of runs, from which the names of their jobs and admissions are derived. */
import type { AppFunction } from '../../model/apps/app.ts';
import { type Pending, requestsOutside } from '../../model/runs/memo.ts';
import { DEFAULT_RETRIES } from '../../model/runs/retry.ts';
import type { Run } from '../../model/runs/run.ts';
import { stepKey } from '../../model/runs/step-key.ts';
import { type TracedRunRef, toRunRef } from './queues.ts';

/** A call of a run, after this number of finished steps or for a planned step; or the request of a step. */
export interface CallRef {
  runId: string;
  finishedSteps?: number;
  stepId?: string;
  request?: boolean;
}

export interface CallToSchedule {
  ref: TracedRunRef;
  /** Number of finished steps with which the function continues; undefined for the call of a planned step. */
  finishedSteps?: number;
  stepId?: string;
  /** Maximum number of attempts after the first. */
  retries: number;
  attemptsBefore?: number;
  delayMs?: number;
}

/** @param fn undefined: the app no longer registers it */
export function callOf(
  run: Run,
  { finishedSteps = 0, stepId }: { finishedSteps?: number | undefined; stepId?: string | undefined },
  fn: Pick<AppFunction, 'retries'> | undefined,
) {
  const which = stepId === undefined ? { finishedSteps } : { stepId };
  return { ref: toRunRef(run), ...which, retries: fn?.retries ?? DEFAULT_RETRIES };
}

export function callRefOf({ ref: { runId }, finishedSteps, stepId }: CallToSchedule): CallRef {
  return { runId, ...(finishedSteps !== undefined && { finishedSteps }), ...(stepId !== undefined && { stepId }) };
}

/** The calls of a run's planned steps, and the requests of its steps. */
export function stepCallsOf(
  runId: string,
  pending: ReadonlyMap<string, Pick<Pending, 'op'>>,
): (CallRef & { stepId: string })[] {
  return [...pending]
    .filter(([, step]) => step.op === 'StepPlanned' || requestsOutside(step))
    .map(([stepId, step]) => ({ runId, stepId, request: requestsOutside(step) }));
}

/** The first call has the ID of its run. */
export function callJobId(runId: string, finishedSteps: number | undefined, stepId: string | undefined): string {
  if (stepId) return `${runId}-${stepKey(stepId)}`;
  return finishedSteps === 0 || finishedSteps === undefined ? runId : `${runId}-${finishedSteps}`;
}

export function jobIdOf({ runId, finishedSteps, stepId, request }: CallRef): string {
  const id = callJobId(runId, finishedSteps, stepId);
  return request ? `${id}-request` : id;
}

/** Name of the call in admissions. */
export function entryOf({ runId, finishedSteps = 0, stepId }: CallRef): string {
  return stepId ? `${runId}//${stepId}` : `${runId}/${finishedSteps}`;
}

/** @returns undefined for a run that holds limits as a whole */
export function callOfEntry(entry: string): CallRef | undefined {
  const slash = entry.indexOf('/');
  if (slash === -1) return undefined;
  const [runId, rest] = [entry.slice(0, slash), entry.slice(slash + 1)];
  return rest.startsWith('/') ? { runId, stepId: rest.slice(1) } : { runId, finishedSteps: Number(rest) };
}
