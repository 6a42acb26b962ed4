/** Finds the step that failed a run: the last one that failed with the run's error, or with one of its causes. */
import type { Memo } from '../runs/memo.ts';
import type { HistoryEntry } from '../runs/run.ts';
import type { RunError } from '../runs/run-error.ts';

export interface FailingStep {
  /** Hashed ID. */
  id: string;
  /** The name in the function's code; undefined if unknown. */
  name: string | undefined;
}

/** SDKs throw a step's error into the function, mostly wrapped in an error of their own. */
const CAUSES_MAX = 5;

/** @param history in order of end
 *  @returns undefined if the function itself failed */
export function failingStepOf(
  history: readonly Pick<HistoryEntry, 'stepId' | 'name' | 'status' | 'error'>[],
  error: RunError,
): FailingStep | undefined {
  const messages = messagesOf(error);
  const failed = history.findLast((entry) => {
    return (
      entry.stepId !== undefined &&
      entry.status === 'Failed' &&
      messagesOf(entry.error).some((message) => messages.includes(message))
    );
  });
  if (failed?.stepId === undefined) return undefined;
  // Entries of attempts lack the step's name.
  const name = history.findLast(({ stepId, name: known }) => stepId === failed.stepId && known !== undefined)?.name;
  return { id: failed.stepId, name };
}

/** Whether a call failed only because a step had failed: the step has then used up the attempts.
 *  @param memos the run's memos before the call */
export function isStepError(error: RunError | undefined, memos: Readonly<Record<string, Memo>>): boolean {
  if (!error) return false;
  const messages = messagesOf(error);
  return Object.values(memos).some((memo) => {
    // The memo of a wait is an event, which has a `name`.
    if (memo === null || !('error' in memo) || 'name' in memo) return false;
    return messagesOf(memo.error).some((message) => messages.includes(message));
  });
}

/** Messages of the error and of its nested causes. */
function messagesOf(error: unknown): string[] {
  const messages: string[] = [];
  for (let thrown = error; messages.length <= CAUSES_MAX; ) {
    const { message, cause } = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Partial<RunError>;
    if (typeof message !== 'string') return messages;
    messages.push(message);
    thrown = cause;
  }
  return messages;
}
