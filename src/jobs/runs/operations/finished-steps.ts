/** Steps that finish together: several in one response, or in one checkpoint. They are stored at once, so that no call is made with only some
 *  of them, which would run the others again. */
import type { Failure } from '../../../functions/interpret-response.ts';
import type { Memo } from '../../../model/runs/memo.ts';
import { asksForRace, failureMemo, type Op } from '../../../model/runs/operation.ts';
import type { HistoryEntry } from '../../../model/runs/run.ts';
import type { FinishedStep } from '../../../store/runs/checkpoints.ts';
import { STATE_ERRORS } from '../state-transitions.ts';
import type { AnsweredCall, OperationDeps } from './operation-context.ts';
import { tooLarge } from './steps.ts';

/** Whether the operation gives its step a memo. */
export function isFinished({ op, error }: Op, { mayRetry }: Pick<AnsweredCall, 'mayRetry'>): boolean {
  if (op === 'StepError') return !mayRetry || error?.noRetry === true;
  return op === 'StepRun' || op === 'Step' || op === 'StepFailed';
}

export function memoOf(op: Op): Memo {
  return op.op === 'StepFailed' || op.op === 'StepError' ? failureMemo(op) : { data: op.data ?? null };
}

/** @returns the failure of the attempt, if a memo is too large */
export function finishedStepsOf(ops: readonly Op[], entryOf?: (op: Op) => HistoryEntry): FinishedStep[] | Failure {
  const steps: FinishedStep[] = [];
  for (const op of ops) {
    const memo = memoOf(op);
    const failure = tooLarge(op, memo);
    if (failure) return failure;
    steps.push({ id: op.id, memo, entry: entryOf?.(op) });
  }
  return steps;
}

/** What they add to the history. */
export function entriesOf(steps: readonly FinishedStep[]): HistoryEntry[] {
  return steps.flatMap(({ entry }) => entry ?? []);
}

/** Why a run fails whose steps are too many, or too large together. */
export function stateFailure(outcome: 'steps' | 'bytes'): Failure {
  return { kind: 'failed', error: STATE_ERRORS[outcome], retriable: false };
}

/** Stores the memos, applies the rest of the response, and then schedules the next call, unless a step is pending: then that step does (but
 *  for race mode).
 *  @param applyRest applies the other operations of the response */
export async function finishSteps(
  ops: readonly Op[],
  { loaded: { run }, race: allRace }: AnsweredCall,
  { checkpoints, steps, runs, transitions }: OperationDeps,
  applyRest: () => Promise<Failure | undefined>,
): Promise<Failure | undefined> {
  const finished = finishedStepsOf(ops);
  if ('kind' in finished) return finished;
  const race = allRace || ops.some(asksForRace);
  const stored = await checkpoints.store(run.env, run.id, finished, undefined, race);
  switch (stored.outcome) {
    case 'steps':
    case 'bytes':
      return stateFailure(stored.outcome);
    case 'stored':
      break;
    default:
      return undefined;
  }
  const failure = await applyRest();
  if (failure?.retriable === false) return failure;
  const { pending, done } = await steps.progress(run.env, run.id);
  if (failure) return { ...failure, at: done };
  // The app knows of these steps already.
  if (pending.size > 0 && !race) await runs.recordAnswered(run.env, run.id, stored.stackLength);
  else await transitions.scheduleNextCall(run, done);
  return undefined;
}
