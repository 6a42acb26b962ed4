/** Repeats: a step runs once without a crash, at least once with one, and never after the service had its result. */
import type { Execution } from '../entry.ts';
import type { History } from '../history.ts';
import { seconds, type Violation } from '../violation.ts';

export interface RepeatTimes {
  callTimeoutMs: number;
  /** After this time, another worker takes over the jobs of a dead worker. */
  stalledAfterMs: number;
  /** Whether calls of the function go on to the next step before a step is stored. */
  isBuffered(functionId: string): boolean;
}

export interface Repeats {
  executions: number;
  /** Repeats during a crash, or while Redis rejected writes. */
  excused: number;
  unexcused: Violation[];
  /** Executed again after the app had their results, or the response that they are stored. No crash excuses that, and no death of the app. */
  afterFinished: Violation[];
}

/** A step's result is stored within this time. A later fault is no excuse. */
const ANSWERED_WITHIN_MS = 2_000;

export function findRepeats(history: History, { callTimeoutMs, stalledAfterMs, isBuffered }: RepeatTimes): Repeats {
  /** A call that a worker lost reaches the app, with what was finished then, this much later at most. */
  const inFlightMs = callTimeoutMs + stalledAfterMs;
  const result: Repeats = { executions: history.starts.length, excused: 0, unexcused: [], afterFinished: [] };
  for (const ofRun of Map.groupBy(history.starts, ({ app, runId }) => `${app} ${runId}`).values()) {
    /** The first start that had the result of the step. */
    const finished = new Map<string, Execution>();
    const last = new Map<string, Execution>();
    /** The last start in a call that a worker lost. */
    let ofLostCall: Execution | undefined;
    for (const start of ofRun) {
      const { app, functionId, runId, step, process, atMs } = start;
      const before = last.get(step);
      const known = finished.get(step);
      const what = `${app}: step ${step} of run ${runId}, at ${seconds(before?.atMs ?? 0)} and ${seconds(atMs)}`;
      const reachedInTime = known && atMs <= known.atMs + inFlightMs;
      // The app may get little CPU time between two steps of the call.
      const continues = ofLostCall !== undefined && ofLostCall.process === process && isBuffered(functionId);
      const isLost = continues || (reachedInTime && history.mayLoseCalls(known.atMs - inFlightMs, atMs));
      ofLostCall = known && isLost ? start : undefined;
      if (known && !isLost) result.afterFinished.push({ what, proof: [...(before ? [before] : []), known, start] });
      else if (before) {
        // A fault may start this long before the step and still cost the worker its locks.
        if (history.excuses(before.atMs - stalledAfterMs, before.atMs + ANSWERED_WITHIN_MS)) result.excused++;
        else result.unexcused.push({ what, proof: [before, start] });
      }
      last.set(step, start);
      for (const one of start.finished) if (!finished.has(one)) finished.set(one, start);
    }
  }
  return result;
}
