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

/** Looks for admissions that explain the starts: whenever the throttle allows one, it admits the start that the app saw first. A start that
 *  the app saw before its admission is a violation. */
function exceeded(history: History, key: string, starts: readonly Execution[], throttle: Throttle): Violation[] {
  const { functionId, limit, periodMs, burst } = throttle;
  const intervalMs = periodMs / limit;
  const burstMs = intervalMs * (limit + burst - 1);
  const upcoming = starts
    .map((start) => ({ start, soonestMs: start.atMs - delayMostMs(history, start) }))
    .sort((a, b) => a.soonestMs - b.soonestMs);
  const admissible: Execution[] = [];
  const violations: Violation[] = [];
  let nowMs = Number.NEGATIVE_INFINITY;
  /** When the next start is due in theory. */
  let nextMs = Number.NEGATIVE_INFINITY;
  for (let begun = 0; begun < upcoming.length || admissible.length > 0; ) {
    if (admissible.length === 0) nowMs = Math.max(nowMs, upcoming[begun]?.soonestMs ?? nowMs);
    nowMs = Math.max(nowMs, nextMs - burstMs);
    for (; begun < upcoming.length && (upcoming[begun]?.soonestMs as number) <= nowMs; begun++) {
      admissible.push(upcoming[begun]?.start as Execution);
    }
    admissible.sort((a, b) => a.atMs - b.atMs);
    const start = admissible.shift() as Execution;
    if (start.atMs >= nowMs) {
      nextMs = Math.max(nextMs, nowMs) + intervalMs;
      continue;
    }
    // Each start is judged by those that the throttle should have admitted.
    const index = starts.indexOf(start);
    violations.push({
      what: `${functionId}: a start of the key ${key} at ${seconds(start.atMs)}, ${seconds(nowMs - start.atMs)} too early`,
      proof: starts.slice(Math.max(0, index - limit - burst), index + 1),
    });
  }
  return violations;
}

function delayMostMs(history: History, { atMs }: Execution): number {
  return history.mayReachAppLate(atMs - TAKEN_OVER_WITHIN_MS, atMs) ? TAKEN_OVER_WITHIN_MS : REACHES_APP_WITHIN_MS;
}
