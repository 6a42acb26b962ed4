/** Which step runs the current code, at any depth. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** The step that the current code is part of. */
export interface RunningStep {
  /** The same in all attempts of the step, and different for each step and run: for APIs that do twice what they are asked twice, such as in
   *  Stripe's header `Idempotency-Key`. 67 characters. */
  readonly idempotencyKey: string;
}

/** With the name of the step. */
const running = new AsyncLocalStorage<(RunningStep & { readonly name: string }) | undefined>();

/** Name of the step that the current code is part of. */
export function runningStep(): string | undefined {
  return running.getStore()?.name;
}

/** The step that the current code is part of; undefined: none. */
export function currentStep(): RunningStep | undefined {
  const { idempotencyKey } = running.getStore() ?? {};
  return idempotencyKey === undefined ? undefined : { idempotencyKey };
}

/** Calls a function as the code of the step. */
export function runAs<T>(step: { displayName: string; hashedId: string }, runId: string, fn: () => T): T {
  return running.run({ name: step.displayName, idempotencyKey: `${runId}-${step.hashedId}` }, fn);
}

/** A function called inside another function's step, for example in a test, is not part of that step. */
export function outsideOfSteps<T>(fn: () => T): T {
  return running.run(undefined, fn);
}
