/** The step that failed a run: the last one that failed with the run's error, or with what caused it. */
import type { Memo } from '../runs/memo.ts';
import type { HistoryEntry } from '../runs/run.ts';
import type { RunError } from '../runs/run-error.ts';

export interface FailingStep {
  /** Hashed ID. */
  id: string;
  /** As the function calls it; undefined: unknown. */
  name: string | undefined;
}

/** An SDK throws the error of a step into the function, mostly inside an error of its own. */
const CAUSES_MAX = 5;

/** @param history in the order the entries ended
 *  @returns undefined: the function itself failed */
export function failingStepOf(
  history: readonly Pick<HistoryEntry, 'stepId' | 'name' | 'status' | 'error'>[],
  error: RunError,
): FailingStep | undefined {
  const messages = messagesOf(error);
  const failed = history.findLast((entry) => {
    return (
      entry.stepId !== undefined &&
      entry.status === 'Failed' &&
      messagesOf(entry.error).some((one) => messages.includes(one))
    );
  });
  if (failed?.stepId === undefined) return undefined;
  // Attempts do not have the names of their steps.
  const name = history.findLast(({ stepId, name: known }) => stepId === failed.stepId && known !== undefined)?.name;
  return { id: failed.stepId, name };
}

/** Whether a call failed only because a step had: then the step's attempts are all there were.
 *  @param memos of the run before the call */
export function isStepError(error: RunError | undefined, memos: Readonly<Record<string, Memo>>): boolean {
  if (!error) return false;
  const messages = messagesOf(error);
  return Object.values(memos).some((memo) => {
    // The memo of a wait is an event, which has a name.
    if (memo === null || !('error' in memo) || 'name' in memo) return false;
    return messagesOf(memo.error).some((one) => messages.includes(one));
  });
}

/** Messages of the error and of its causes. */
function messagesOf(error: unknown): string[] {
  const messages: string[] = [];
  for (let one = error; messages.length <= CAUSES_MAX; ) {
    const { message, cause } = (typeof one === 'object' && one !== null ? one : {}) as Partial<RunError>;
    if (typeof message !== 'string') return messages;
    messages.push(message);
    one = cause;
  }
  return messages;
}
