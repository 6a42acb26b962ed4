/** Re-runs from a step: which requests are valid, and from which step a failed run is re-run. */
import { invalidField } from '../../../errors.ts';
import type { AppFunction } from '../../../model/apps/app.ts';
import type { HistoryEntry } from '../../../model/runs/run.ts';
import { type FromStep, takesInput } from '../../../model/runs/step-input.ts';

/** Maximum number of steps that an error names. */
const NAMED_MAX = 20;
/** Official SDKs that accept edited input, by the beginning of their registered name. Other SDKs would take the input for a result. */
const SDKS_WITH_INPUT = /^(inngest-)?js:/;

/** @param isFinished whether the step has a memo
 *  @param sdk SDK of the app
 *  @throws ServiceError input_invalid */
export function checkFromStep(
  { id, input }: FromStep,
  { history, isFinished }: { history: readonly HistoryEntry[]; isFinished: boolean },
  fn: AppFunction,
  sdk: string | undefined,
): void {
  const entries = history.filter(({ stepId }) => stepId === id);
  if (!isFinished && entries.length === 0) {
    throw invalidField('from_step.step_id', `the run has no step "${id}" that has begun; ${stepsOf(history)}`);
  }
  if (input === undefined) return;
  const op = entries.find((entry) => entry.op !== undefined)?.op;
  if (!takesInput(op)) throw invalidField('from_step.input', `a step of the kind ${op} takes no input; leave it out`);
  if (fn.dialect !== 'inngest' || !SDKS_WITH_INPUT.test(sdk ?? '')) {
    const detail =
      'only steps of apps with the official TypeScript SDK take input; leave it out, or invoke the function with other data';
    throw invalidField('from_step.input', detail);
  }
}

/** The step from which a failed run is re-run.
 *  @param history in order of completion
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

function stepsOf(history: readonly HistoryEntry[]): string {
  const named = new Map(history.flatMap(({ stepId, name }) => (stepId === undefined ? [] : [[stepId, name]])));
  if (named.size === 0) return 'it has none';
  const shown = [...named].slice(0, NAMED_MAX).map(([id, name]) => (name === undefined ? id : `${id} ("${name}")`));
  return `its steps: ${shown.join(', ')}${named.size > NAMED_MAX ? ', …' : ''}`;
}
