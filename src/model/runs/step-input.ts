/** A re-run from a step: it has the finished steps before that one, and may give the step other input (docs/protocol.md#memos). */
import type { Memo } from './memo.ts';

export interface FromStep {
  /** Hashed ID of the first step that runs again. */
  id: string;
  /** Its arguments; undefined: as the function gives them. */
  input?: readonly unknown[];
}

/** Steps that the app runs. */
const WITH_INPUT: ReadonlySet<string> = new Set(['Step', 'StepRun', 'StepError', 'StepFailed', 'StepPlanned']);

/** @param op kind of the step, as in the history; undefined: a step that has had attempts and did not finish */
export function takesInput(op: string | undefined): boolean {
  return op === undefined || WITH_INPUT.has(op);
}

/** The memos as the app gets them: the step whose input was edited has that instead of a result, until it has finished. */
export function withStepInput(memos: Record<string, Memo>, from: FromStep | undefined): Record<string, Memo> {
  if (from?.input === undefined || Object.hasOwn(memos, from.id)) return memos;
  return { ...memos, [from.id]: { input: from.input } };
}
