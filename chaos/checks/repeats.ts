/** Steps that were executed more than once: at least once is promised across a crash, and once without. */
import type { Execution } from '../apps/executions.ts';
import { CALL_TIMEOUT_SECONDS, STALLED_AFTER_SECONDS } from '../service.ts';
import type { Timeline } from '../timeline.ts';

/** A step's answer is stored so soon after it began that a fault after this has not cost it its memo. */
const ANSWERED_WITHIN_MS = 2_000;
/** A call that a worker sent before the step was finished, and lost, may reach the app so much later. */
const IN_FLIGHT_MS = (CALL_TIMEOUT_SECONDS + STALLED_AFTER_SECONDS) * 1_000;
/** What lost a worker its locks may have begun before the step. */
const BEFORE_MS = STALLED_AFTER_SECONDS * 1_000;

export interface Repeats {
  executions: number;
  /** Where a crash, or a Redis that took no writes, was in flight. */
  excused: number;
  unexcused: string[];
  /** Executed again after the app had been told that they are finished: no crash excuses that. */
  afterFinished: string[];
}

/** @param mayRepeat whether the step is meant to be tried again */
export function repeatsOf(executions: readonly Execution[], timeline: Timeline): Repeats {
  const result: Repeats = { executions: executions.length, excused: 0, unexcused: [], afterFinished: [] };
  for (const ofRun of Map.groupBy(executions, ({ app, runId }) => `${app} ${runId}`).values()) {
    const finished = new Map<string, number>();
    const lastAt = new Map<string, number>();
    for (const { app, runId, step, finished: told, atMs } of ofRun) {
      const before = lastAt.get(step);
      const what = `${app}: step ${step} of run ${runId}, at ${seconds(before)} and ${seconds(atMs)}`;
      if (atMs > (finished.get(step) ?? Number.POSITIVE_INFINITY) + IN_FLIGHT_MS) result.afterFinished.push(what);
      else if (before !== undefined) {
        if (timeline.excuses(before - BEFORE_MS, before + ANSWERED_WITHIN_MS)) result.excused++;
        else result.unexcused.push(what);
      }
      lastAt.set(step, atMs);
      for (const one of told) if (!finished.has(one)) finished.set(one, atMs);
    }
  }
  return result;
}

function seconds(ms = 0): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
