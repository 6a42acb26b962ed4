/** Re-runs from a step: the run has the finished steps before it, and may give the step different input (docs/protocol.md#memos). */
import type { Memo } from './memo.ts';

export interface FromStep {
  /** Hashed ID of the first step that runs again. */
  id: string;
  /** New arguments of the step; undefined: the arguments that the function passes. */
  input?: readonly unknown[];
}

/** Step types that the app executes. */
const WITH_INPUT: ReadonlySet<string> = new Set(['Step', 'StepRun', 'StepError', 'StepFailed', 'StepPlanned']);

/** @param op step type as in the history; undefined for a step with attempts that never finished */
export function takesInput(op: string | undefined): boolean {
  return op === undefined || WITH_INPUT.has(op);
}

/** The memos as the app receives them: until the step with edited input has finished, its memo is that input. */
export function withStepInput(memos: Record<string, Memo>, from: FromStep | undefined): Record<string, Memo> {
  if (from?.input === undefined || Object.hasOwn(memos, from.id)) return memos;
  return { ...memos, [from.id]: { input: from.input } };
}
