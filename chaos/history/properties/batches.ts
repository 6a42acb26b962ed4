/** Batches: each run has at most so many events, all of one key. That each event is in one run, others check. */
import type { History } from '../history.ts';
import type { Violation } from '../violation.ts';

export interface Batches {
  functionId: string;
  maxSize: number;
}

export function checkBatches(history: History, { functionId, maxSize }: Batches): Violation[] {
  const keys = new Map(history.sends.flatMap(({ ids, key }) => ids.map((id) => [id, key] as const)));
  return history.firstStarts(functionId).flatMap((start) => {
    const ofRun = new Set(start.sentIds.map((id) => keys.get(id)));
    return [
      ...(start.sentIds.length > maxSize
        ? [
            {
              what: `${functionId}: run ${start.runId} has ${start.sentIds.length} events of at most ${maxSize}`,
              proof: [start],
            },
          ]
        : []),
      ...(ofRun.size > 1
        ? [
            {
              what: `${functionId}: run ${start.runId} has events of the keys ${[...ofRun].join(', ')}`,
              proof: [start],
            },
          ]
        : []),
    ];
  });
}
