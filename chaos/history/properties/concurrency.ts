/** Concurrency: at no instant more calls of a key in flight than its limit, by the app's own clock. A repeated call counts with the one that a
 *  dead worker made before: both are of one run and step, and have one permit. */
import type { Execution } from '../entry.ts';
import type { History } from '../history.ts';
import { seconds, type Violation } from '../violation.ts';

export interface ConcurrencyLimit {
  functionId: string;
  limit: number;
  /** A call has its permit for so long at least: then it may have timed out. */
  certainMs: number;
}

/** An app that hung starts what it was sent meanwhile within this time. */
const ABANDONED_START_WITHIN_MS = 2_000;

interface Call {
  start: Execution;
  end: Execution;
  untilMs: number;
}

export function checkConcurrency(history: History, limit: ConcurrencyLimit): Violation[] {
  const byKey = Map.groupBy(callsOf(history, limit), ({ start }) => start.key ?? '');
  return [...byKey].flatMap(([key, calls]) => exceeded(key, calls, limit));
}

/** From the first start of a call to its first end: then the service may have its result, and give the permit to another. The death of its app
 *  ends a call without one, and its next attempt is another call. */
function callsOf(history: History, { functionId, certainMs }: ConcurrencyLimit): Call[] {
  const { starts, ends } = history;
  const nameOf = ({ runId, step, process }: Execution) => `${runId} ${step} ${process}`;
  const firstEnds = new Map<string, Execution>();
  for (const end of ends) if (!firstEnds.has(nameOf(end))) firstEnds.set(nameOf(end), end);
  const calls = new Map<string, Call>();
  for (const start of starts) {
    const end = firstEnds.get(nameOf(start));
    if (start.functionId !== functionId || !end || calls.has(nameOf(start))) continue;
    if (history.hasAbandonedCalls(start.atMs - ABANDONED_START_WITHIN_MS, start.atMs)) continue;
    calls.set(nameOf(start), { start, end, untilMs: Math.min(end.atMs, start.atMs + certainMs) });
  }
  return [...calls.values()];
}

/** @param calls in the order of their starts */
function exceeded(key: string, calls: readonly Call[], { functionId, limit }: ConcurrencyLimit): Violation[] {
  let inFlight: Call[] = [];
  const violations: Violation[] = [];
  for (const call of calls) {
    inFlight = [...inFlight.filter(({ untilMs }) => untilMs > call.start.atMs), call];
    if (inFlight.length <= limit) continue;
    const ofKey = key === '' ? '' : ` of the key ${key}`;
    violations.push({
      what: `${functionId}: ${inFlight.length} calls${ofKey} in flight at ${seconds(call.start.atMs)}; the limit is ${limit}`,
      proof: inFlight.flatMap(({ start, end }) => [start, end]),
    });
  }
  return violations;
}
