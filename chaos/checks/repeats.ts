/** Finds steps that were executed more than once. The promise is once without a crash, at least once with one. */
import type { Execution } from '../apps/executions.ts';
import { CALL_TIMEOUT_SECONDS, STALLED_AFTER_SECONDS } from '../service.ts';
import type { Timeline } from '../timeline.ts';

/** A step's result is stored within this time. A later fault is no excuse. */
const ANSWERED_WITHIN_MS = 2_000;
/** A call that a worker lost may reach the app this much later. */
const IN_FLIGHT_MS = (CALL_TIMEOUT_SECONDS + STALLED_AFTER_SECONDS) * 1_000;
/** A fault may start this long before the step and still cost the worker its locks. */
const BEFORE_MS = STALLED_AFTER_SECONDS * 1_000;

export interface Repeats {
  executions: number;
  /** Repeats during a crash, or while Redis rejected writes. */
  excused: number;
  unexcused: string[];
  /** Executed again after the service had sent their results to the app. No crash excuses that. */
  afterFinished: string[];
}

export function findRepeats(executions: readonly Execution[], timeline: Timeline): Repeats {
  const result: Repeats = { executions: executions.length, excused: 0, unexcused: [], afterFinished: [] };
  for (const ofRun of Map.groupBy(executions, ({ app, runId }) => `${app} ${runId}`).values()) {
    const finished = new Map<string, number>();
    const lastAt = new Map<string, number>();
    for (const { app, runId, step, finished: known, atMs } of ofRun) {
      const before = lastAt.get(step);
      const what = `${app}: step ${step} of run ${runId}, at ${seconds(before)} and ${seconds(atMs)}`;
      if (atMs > (finished.get(step) ?? Number.POSITIVE_INFINITY) + IN_FLIGHT_MS) result.afterFinished.push(what);
      else if (before !== undefined) {
        if (timeline.excuses(before - BEFORE_MS, before + ANSWERED_WITHIN_MS)) result.excused++;
        else result.unexcused.push(what);
      }
      lastAt.set(step, atMs);
      for (const one of known) if (!finished.has(one)) finished.set(one, atMs);
    }
  }
  return result;
}

function seconds(ms = 0): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
