/** Throttle: the starts of a key's runs, as the app sees them, fit a GCRA whose starts may each reach the app late. */
import type { Execution } from '../entry.ts';
import type { History } from '../history.ts';
import { seconds, type Violation } from '../violation.ts';

export interface Throttle {
  functionId: string;
  limit: number;
  periodMs: number;
  burst: number;
}

/** From the admission of a start until the app sees it. */
export const REACHES_APP_WITHIN_MS = 1_000;
/** The same, where a worker may have died and another has taken over, or the app was stopped. */
export const TAKEN_OVER_WITHIN_MS = 20_000;

export function checkThrottle(history: History, throttle: Throttle): Violation[] {
  const byKey = Map.groupBy(history.firstStarts(throttle.functionId), ({ key = '' }) => key);
  return [...byKey].flatMap(([key, starts]) => exceeded(history, key, starts, throttle));
}

function exceeded(history: History, key: string, starts: readonly Execution[], throttle: Throttle): Violation[] {
  const { functionId, limit, periodMs, burst } = throttle;
  const intervalMs = periodMs / limit;
  const atOnce = limit + burst;
  const violations: Violation[] = [];
  /** When the next start is due in theory. */
  let nextMs = Number.NEGATIVE_INFINITY;
  for (const [index, start] of starts.entries()) {
    nextMs = Math.max(nextMs, start.atMs);
    const delayMs = history.mayReachAppLate(start.atMs - TAKEN_OVER_WITHIN_MS, start.atMs)
      ? TAKEN_OVER_WITHIN_MS
      : REACHES_APP_WITHIN_MS;
    const earlyMs = nextMs - start.atMs - intervalMs * (atOnce - 1);
    if (earlyMs > delayMs) {
      violations.push({
        what: `${functionId}: a start of the key ${key} at ${seconds(start.atMs)}, ${seconds(earlyMs)} too early`,
        proof: starts.slice(Math.max(0, index - atOnce), index + 1),
      });
      // Each start is judged by those that the throttle should have admitted.
      continue;
    }
    nextMs += intervalMs;
  }
  return violations;
}
