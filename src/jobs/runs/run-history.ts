/** What is written down of an attempt: itself, and the steps that ended with it. */
import type { Failure, Outcome } from '../../functions/interpret-response.ts';
import type { Memo, Pending } from '../../model/runs/memo.ts';
import { errorOf, type Op, stepName } from '../../model/runs/operation.ts';
import type { HistoryEntry, RunError } from '../../model/runs/run.ts';
import type { Loaded } from '../../store/runs/runs.ts';
import type { CallJob } from '../queues/queues.ts';

const ENDED = new Set<Op['op']>(['Step', 'StepRun', 'StepFailed', 'StepError']);

/** A run that is done with its first call needs no history beside its own record. */
export function isPlain({ stack, pending }: Loaded, outcome: Outcome, triesBefore: number): boolean {
  return outcome.kind === 'completed' && stack.length === 0 && pending === 0 && triesBefore === 0;
}

interface Attempt {
  job: CallJob;
  tries: { before: number };
  queuedAt: number;
  startedAt: number;
}

export function historyOf(outcome: Outcome | Failure, { job, tries, queuedAt, startedAt }: Attempt): HistoryEntry[] {
  const endedAt = Date.now();
  const times = { queuedAt, startedAt, endedAt };
  const attempt: HistoryEntry = {
    kind: 'attempt',
    ...(job.stepId && { stepId: job.stepId }),
    attempt: tries.before,
    ...times,
    ...result(outcome.kind === 'failed' ? outcome.error : undefined),
  };
  if (outcome.kind !== 'steps') return [attempt];
  const steps = outcome.ops
    .filter(({ op }) => ENDED.has(op))
    .map((op): HistoryEntry => {
      const failed = op.op === 'StepError' || op.op === 'StepFailed';
      return {
        kind: 'step',
        stepId: op.id,
        name: stepName(op),
        op: op.op,
        attempt: tries.before,
        ...times,
        ...result(failed ? errorOf(op) : undefined),
      };
    });
  return [attempt, ...steps];
}

/** A step that waited, at its end: a sleep, a wait for an event, the run of another function. */
export function waitOf(stepId: string, { op, name, since }: Pending, memo: Memo, endedAt: number): HistoryEntry {
  const error = op === 'InvokeFunction' ? (memo as { error?: RunError }).error : undefined;
  const timedOut = op === 'WaitForEvent' && memo === null;
  const entry: HistoryEntry = { kind: 'step', stepId, name, op, startedAt: since, endedAt, ...result(error) };
  return timedOut ? { ...entry, timedOut } : entry;
}

function result(error: RunError | undefined): Pick<HistoryEntry, 'status' | 'error'> {
  return error ? { status: 'Failed', error } : { status: 'Completed' };
}
