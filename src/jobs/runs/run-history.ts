/** The history entries of an attempt: the attempt itself, and the steps that finished with it. */
import type { Failure, Outcome } from '../../functions/interpret-response.ts';
import type { Memo, Pending } from '../../model/runs/memo.ts';
import { errorOf, type Op, stepName } from '../../model/runs/operation.ts';
import type { HistoryEntry, RunError } from '../../model/runs/run.ts';
import type { Loaded } from '../../store/runs/runs.ts';
import type { CallJob, JobAttempts } from '../queues/queues.ts';

export interface CallAttempt {
  job: CallJob;
  attempts: JobAttempts;
  loaded: Loaded;
  queuedAt: number;
  startedAt: number;
  /** Number of finished steps with which another call continues the run, because this one had stored some and failed. */
  continuesAt?: number;
}

/** An app that says that a step ran longer ago has a wrong clock. */
export const DAY_MS = 86_400_000;

const FINISHED = new Set<Op['op']>(['Step', 'StepRun', 'StepFailed', 'StepError']);

/** A run that completes with its first call needs no history beside its own record. */
export function needsNoHistory({ stack, pending }: Loaded, outcome: Outcome, attemptsMade: number): boolean {
  return outcome.kind === 'completed' && !outcome.ops && stack.length === 0 && pending === 0 && attemptsMade === 0;
}

export function attemptHistory(
  outcome: Outcome | Failure,
  { job, attempts, queuedAt, startedAt }: CallAttempt,
): HistoryEntry[] {
  const endedAt = Date.now();
  const times = { queuedAt, startedAt, endedAt };
  const attempt: HistoryEntry = {
    kind: 'attempt',
    ...(job.stepId && { stepId: job.stepId }),
    attempt: attempts.made,
    ...times,
    ...resultOf(outcome.kind === 'failed' ? outcome.error : undefined),
  };
  const ops = (outcome.kind !== 'failed' && outcome.ops) || [];
  const finished = ops.filter(({ op }) => FINISHED.has(op));
  // Each has times of its own.
  if (finished.length > 1 || outcome.kind === 'completed')
    return [attempt, ...finished.map((op) => stepHistory(op, attempts.made, times))];
  const steps = finished.map((op): HistoryEntry => {
    const failed = op.op === 'StepError' || op.op === 'StepFailed';
    return {
      kind: 'step',
      stepId: op.id,
      name: stepName(op),
      op: op.op,
      attempt: attempts.made,
      ...times,
      ...resultOf(failed ? errorOf(op) : undefined),
    };
  });
  return [attempt, ...steps];
}

/** The entry of a step that ran as one of several in a call.
 *  @param during the call that the step ran in, Unix milliseconds: an app's clock may be wrong
 *  @param otherwise its start, if the app does not tell */
export function stepHistory(
  op: Op,
  attempt: number,
  during: { startedAt: number; endedAt: number },
  otherwise = during.startedAt,
): HistoryEntry {
  const { timing } = op;
  const within = (ms: number) => Math.round(Math.min(Math.max(ms, during.startedAt), during.endedAt));
  const failed = op.op === 'StepError' || op.op === 'StepFailed';
  return {
    kind: 'step',
    stepId: op.id,
    name: stepName(op),
    op: op.op,
    attempt,
    startedAt: timing ? within(timing.a / 1e6) : otherwise,
    endedAt: timing ? within((timing.a + timing.b) / 1e6) : during.endedAt,
    ...resultOf(failed ? errorOf(op) : undefined),
  };
}

/** The entry of a step that waited: a sleep, a wait for an event, an invocation. */
export function waitHistory(stepId: string, { op, name, since }: Pending, memo: Memo, endedAt: number): HistoryEntry {
  const error = op === 'InvokeFunction' ? (memo as { error?: RunError }).error : undefined;
  const timedOut = op === 'WaitForEvent' && memo === null;
  const entry: HistoryEntry = { kind: 'step', stepId, name, op, startedAt: since, endedAt, ...resultOf(error) };
  return timedOut ? { ...entry, timedOut } : entry;
}

function resultOf(error: RunError | undefined): Pick<HistoryEntry, 'status' | 'error'> {
  return error ? { status: 'Failed', error } : { status: 'Completed' };
}
