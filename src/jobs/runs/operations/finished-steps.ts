/** Steps that finish together in one response or checkpoint. They are stored together: a call with only some of the steps would run the
 *  others again. */
import type { Failure } from '../../../functions/interpret-response.ts';
import type { Memo } from '../../../model/runs/memo.ts';
import { asksForRace, failureMemo, isFunctionError, isReturned, type Op } from '../../../model/runs/operation.ts';
import type { HistoryEntry, RunError } from '../../../model/runs/run.ts';
import type { FinishedStep } from '../../../store/runs/checkpoints.ts';
import type { CallWithResponse, OperationDeps } from './operation-context.ts';
import { stateFailure, tooLarge } from './steps.ts';

/** Whether the operation gives its step a memo. */
export function isFinished(op: Op, { mayRetry }: Pick<CallWithResponse, 'mayRetry'>): boolean {
  if (op.op === 'StepError') return !mayRetry || op.error?.noRetry === true;
  return isReturned(op) || op.op === 'StepFailed';
}

/** Whether the operation reports a step that ran to its end: the step must not run again, whatever else the app sends. */
export function hasRun(op: Op): boolean {
  return isFinished(op, { mayRetry: true }) && !isFunctionError(op);
}

export function memoOf(op: Op): Memo {
  return op.op === 'StepFailed' || op.op === 'StepError' ? failureMemo(op) : { data: op.data ?? null };
}

/** Finished steps to store, and the failure of the attempt if a memo is too large. */
export interface FinishedSteps {
  steps: FinishedStep[];
  tooLarge: Failure | undefined;
}

export function finishedStepsOf(ops: readonly Op[], entryOf?: (op: Op) => HistoryEntry): FinishedSteps {
  const steps: FinishedStep[] = [];
  let failure: Failure | undefined;
  for (const op of ops) {
    const memo = JSON.stringify(memoOf(op));
    const problem = tooLarge(op, memo);
    if (problem) failure ??= problem;
    else steps.push({ id: op.id, memo, entry: entryOf?.(op) });
  }
  return { steps, tooLarge: failure };
}

/** Why the memo of the operation cannot be stored; undefined if it can be stored, or the operation has no memo. */
export function memoProblemOf(op: Op): RunError | undefined {
  return isFinished(op, { mayRetry: true }) ? tooLarge(op, JSON.stringify(memoOf(op)))?.error : undefined;
}

export function entriesOf(steps: readonly FinishedStep[]): HistoryEntry[] {
  return steps.flatMap(({ entry }) => entry ?? []);
}

/** Stores the memos, applies the rest of the response, and then schedules the next call. While a step is pending, the end of that step
 *  schedules the call instead (except in race mode). A memo that is too large fails the attempt; the others are stored.
 *  @param applyRest applies the other operations of the response */
export async function finishSteps(
  ops: readonly Op[],
  { loaded: { run, stack }, race: allRace }: CallWithResponse,
  { checkpoints, steps, runs, transitions }: OperationDeps,
  applyRest: () => Promise<Failure | undefined>,
): Promise<Failure | undefined> {
  const finished = finishedStepsOf(ops);
  const race = allRace || ops.some(asksForRace);
  const stored = await checkpoints.store(run.env, run.id, finished.steps, undefined, race);
  switch (stored.outcome) {
    case 'steps':
    case 'bytes':
      return stateFailure(stored.outcome);
    case 'stored':
      break;
    default:
      return undefined;
  }
  const failure = (await applyRest()) ?? finished.tooLarge;
  if (failure?.retriable === false) return failure;
  const { pending, done } = await steps.progress(run.env, run.id);
  if (failure) return { ...failure, ...(done > stack.length && { finishedSteps: done }) };
  // The app already knows about these steps.
  if (pending.size > 0 && !race) await runs.recordAnswered(run.env, run.id, stored.stackLength);
  else await transitions.scheduleNextCall(run, done);
  return undefined;
}
