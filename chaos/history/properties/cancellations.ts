/** Cancellations: a run whose cancellation is answered is cancelled at the end, and starts nothing any more. Its call in flight is not aborted. */
import type { History } from '../history.ts';
import { seconds, type Violation } from '../violation.ts';

/** A call that was made before the response reaches the app within this time. */
const REACHES_APP_WITHIN_MS = 250;
/** A fault may start this long before the response and still delay such a call. */
const DELAYED_SINCE_MS = 5_000;

export function checkCancellations(history: History): Violation[] {
  const runs = new Map(history.runs.map((run) => [run.runId, run]));
  return history.controls.flatMap((cancel) => {
    const { what, runId = '', result, completedMs } = cancel;
    if (what !== 'cancel' || result !== 'ok') return [];
    const run = runs.get(runId);
    const late = history.starts.filter(
      (start) =>
        start.runId === runId &&
        start.atMs > completedMs + REACHES_APP_WITHIN_MS &&
        !history.mayReachAppLate(completedMs - DELAYED_SINCE_MS, start.atMs),
    );
    return [
      ...(run && run.status !== 'Cancelled'
        ? [{ what: `run ${runId} was cancelled at ${seconds(completedMs)} and is ${run.status}`, proof: [cancel, run] }]
        : []),
      ...(late.length > 0
        ? [{ what: `run ${runId} was cancelled at ${seconds(completedMs)} and went on`, proof: [cancel, ...late] }]
        : []),
    ];
  });
}
