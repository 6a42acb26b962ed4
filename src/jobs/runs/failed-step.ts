/** The step from which a run is re-run where it failed. */
import type { HistoryEntry } from '../../model/runs/run.ts';

/** @param history in order of completion
 *  @returns the hashed ID of the last step whose last entry is a failure; undefined: no step failed, or each that did has succeeded since */
export function failedStepOf(history: readonly HistoryEntry[]): string | undefined {
  const last = new Map<string, HistoryEntry>();
  for (const entry of history) {
    if (entry.stepId === undefined) continue;
    // In the order of the last entries.
    last.delete(entry.stepId);
    last.set(entry.stepId, entry);
  }
  return [...last.values()].filter(({ status }) => status === 'Failed').at(-1)?.stepId;
}
