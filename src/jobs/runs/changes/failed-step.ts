/** Finds the step from which a failed run is re-run. */
import type { HistoryEntry } from '../../../model/runs/run.ts';

/** @param history in order of completion
 *  @returns hashed ID of the last step whose last entry is a failure; undefined if there is none */
export function failedStepOf(history: readonly HistoryEntry[]): string | undefined {
  const last = new Map<string, HistoryEntry>();
  for (const entry of history) {
    if (entry.stepId === undefined) continue;
    // Keeps the map in the order of the last entries.
    last.delete(entry.stepId);
    last.set(entry.stepId, entry);
  }
  return [...last.values()].filter(({ status }) => status === 'Failed').at(-1)?.stepId;
}
