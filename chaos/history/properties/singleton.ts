/** Singleton: no two runs of a key are active at the same time. A run is certainly active between the first starts of its first and its last step. */
import type { Execution } from '../entry.ts';
import type { History } from '../history.ts';
import { seconds, type Violation } from '../violation.ts';

export interface Singleton {
  functionId: string;
  lastStep: string;
}

export function checkSingleton(history: History, { functionId, lastStep }: Singleton): Violation[] {
  const last = new Map<string, Execution>();
  for (const start of history.starts)
    if (start.step === lastStep && !last.has(start.runId)) last.set(start.runId, start);
  const byKey = Map.groupBy(history.firstStarts(functionId), ({ key = '' }) => key);
  return [...byKey].flatMap(([key, starts]) => {
    const violations: Violation[] = [];
    let active: { start: Execution; end: Execution } | undefined;
    for (const start of starts) {
      if (active && active.end.atMs > start.atMs)
        violations.push({
          what: `${functionId}: two active runs of the key ${key} at ${seconds(start.atMs)}`,
          proof: [active.start, start, active.end],
        });
      const end = last.get(start.runId);
      if (end && end.atMs > (active?.end.atMs ?? 0)) active = { start, end };
    }
    return violations;
  });
}
