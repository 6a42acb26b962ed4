/** Running one step: its outcome as an op. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { NonRetriableError, RetryAfterError } from '../errors.ts';
import { asJson } from '../json.ts';
import { describeError } from '../wire-error.ts';
import { type FoundStep, opOf } from './found.ts';
import { type Memo, readMemo } from './memo.ts';
import type { Op } from './op.ts';

/** The step that the current code runs inside, by name. */
const running = new AsyncLocalStorage<string | undefined>();

/** A function that is called from inside of another one's step, in a test perhaps, is not part of that. */
export function outsideOfSteps<T>(fn: () => T): T {
  return running.run(undefined, fn);
}

/** Steps do not nest: the inner one could not be found again without running the outer one again.
 *  @throws NonRetriableError */
export function refuseNesting(id: string): void {
  const outer = running.getStore();
  if (outer === undefined) return;
  throw new NonRetriableError(
    `Step "${id}" is inside of step "${outer}": steps do not nest. Call it after that step, with its result`,
  );
}

export interface StepOutcome {
  op: Op;
  retryAfterSeconds?: number;
}

/** Never rejects: a result that cannot be written as JSON fails the step too. */
export async function runStep(step: FoundStep): Promise<StepOutcome> {
  try {
    const result = await running.run(step.displayName, async () => step.run?.(step.hashedId));
    return { op: { ...opOf(step, 'StepRun'), data: asJson(result) } };
  } catch (thrown) {
    const op = { ...opOf(step, thrown instanceof NonRetriableError ? 'StepFailed' : 'StepError') };
    const outcome: StepOutcome = { op: { ...op, error: describeError(thrown) } };
    if (thrown instanceof RetryAfterError) outcome.retryAfterSeconds = thrown.retryAfterSeconds;
    return outcome;
  }
}

/** The outcome of a step that was run before, for a call that asks for it once more. */
export function repeatOutcome(step: FoundStep, memo: Memo): StepOutcome {
  const settled = readMemo(memo, step.kind);
  if ('error' in settled) return { op: { ...opOf(step, 'StepFailed'), error: settled.error } };
  return { op: { ...opOf(step, 'StepRun'), data: settled.data } };
}
