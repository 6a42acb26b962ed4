/** Pauses that hold queued runs: after one is answered, no run of the function starts until it is resumed. */
import type { Control } from '../entry.ts';
import type { History } from '../history.ts';
import { seconds, type Violation } from '../violation.ts';

/** The call of a run that started before the response reaches the app within this time, unless its worker or the app was stopped, or its worker
 *  died: then the service's record of its start decides. */
const REACHES_APP_WITHIN_MS = 250;
/** Rounded times of the API. */
const ROUNDED_MS = 5;

export function checkPauses(history: History, functionId: string): Violation[] {
  const controls = history.controls.filter(
    (control) => control.functionId === functionId && ['pause', 'resume'].includes(control.what),
  );
  const startedMs = new Map(history.runs.map((run) => [run.runId, run.startedMs]));
  const starts = history.firstStarts(functionId);
  return controls.flatMap((pause, index) => {
    if (pause.what !== 'pause' || pause.result !== 'ok') return [];
    const resume: Control | undefined = controls.slice(index + 1).find(({ what }) => what === 'resume');
    const untilMs = resume?.invokedMs ?? Number.POSITIVE_INFINITY;
    const hasStartedBefore = (runId: string) =>
      (startedMs.get(runId) ?? Number.POSITIVE_INFINITY) <= pause.completedMs + ROUNDED_MS;
    const early = starts.filter(
      ({ atMs, runId }) =>
        atMs > pause.completedMs + REACHES_APP_WITHIN_MS && atMs < untilMs && !hasStartedBefore(runId),
    );
    if (early.length === 0) return [];
    const last = (early.at(-1)?.atMs ?? 0) - pause.completedMs;
    return [
      {
        what: `${functionId}: ${early.length} runs started while it was paused, the last one ${seconds(last)} after the response`,
        proof: [pause, ...early, ...(resume ? [resume] : [])],
      },
    ];
  });
}
