/** The step that failed a run: the last one that failed with the run's error, or with what caused it. */
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

/** Of the error and of its causes. */
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
