/** Order: the runs of a key start in the order of their events, since later events supersede those that come too late. */
import type { Execution } from '../entry.ts';
import type { History } from '../history.ts';
import type { Violation } from '../violation.ts';

export interface OrderedFunction {
  functionId: string;
}

export function checkOrder(history: History, { functionId }: OrderedFunction): Violation[] {
  const byKey = Map.groupBy(history.firstStarts(functionId), ({ key = '' }) => key);
  return [...byKey].flatMap(([key, starts]) => {
    const violations: Violation[] = [];
    let last: Execution | undefined;
    for (const start of starts) {
      if (last && numberOf(start) < numberOf(last)) {
        // A call that the service has given up may reach its app after later ones.
        if (history.mayReachAppLate(last.atMs, start.atMs)) continue;
        const what = `${functionId}: ${start.sentIds[0]} of the key ${key} started after ${last.sentIds[0]}`;
        violations.push({ what, proof: [last, start] });
      } else last = start;
    }
    return violations;
  });
}

/** The sender numbers its events. */
function numberOf({ sentIds: [id = ''] }: Execution): number {
  return Number(/\d+$/.exec(id)?.[0]);
}
