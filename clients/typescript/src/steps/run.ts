/** Runs one step and returns its result as an operation. */
import { NonRetriableError, RetryAfterError } from '../errors.ts';
import { asJson } from '../json.ts';
import { describeError } from '../wire-error.ts';
import { type FoundStep, opOf } from './found.ts';
import { type Memo, readMemo } from './memo.ts';
import type { Op } from './op.ts';
import { runAs, runningStep } from './running-step.ts';

/** Steps cannot be nested: finding the inner one again would run the outer one again.
 *  @throws NonRetriableError */
export function refuseNesting(id: string): void {
  const outer = runningStep();
  if (outer === undefined) return;
  throw new NonRetriableError(
    `Step "${id}" is inside of step "${outer}": steps do not nest. Call it after that step, with its result`,
  );
}

export interface StepOutcome {
  op: Op;
  retryAfterSeconds?: number;
}

/** Never rejects: a result that JSON cannot represent fails the step. */
export async function runStep(step: FoundStep, runId: string): Promise<StepOutcome> {
  try {
    const result = await step.inContext(() => runAs(step, runId, async () => step.run?.(step)));
    return { op: { ...opOf(step, 'StepRun'), data: asJson(result) } };
  } catch (thrown) {
    const op = { ...opOf(step, thrown instanceof NonRetriableError ? 'StepFailed' : 'StepError') };
    const outcome: StepOutcome = { op: { ...op, error: describeError(thrown) } };
    if (thrown instanceof RetryAfterError) outcome.retryAfterSeconds = thrown.retryAfterSeconds;
    return outcome;
  }
}

/** The result of an already finished step, for a repeated request. */
export function repeatOutcome(step: FoundStep, memo: Memo): StepOutcome {
  const settled = readMemo(memo, step.kind);
  if ('error' in settled) return { op: { ...opOf(step, 'StepFailed'), error: settled.error } };
  return { op: { ...opOf(step, 'StepRun'), data: settled.data } };
}
