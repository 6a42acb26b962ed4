/** How long jobs of queues wait. */
import type { Overview } from '../../api/types.ts';

export type Queue = Overview['queues'][number];

/** A longer wait means that the workers fall behind. */
export const LONG_WAIT_MS = 10_000;

/** undefined: no job waits. */
export function longestWaitMs(queues: readonly Queue[], nowMs: number): number | undefined {
  const since = queues.flatMap(({ oldest_waiting_at: at }) => (at === null ? [] : [Date.parse(at)]));
  return since.length === 0 ? undefined : Math.max(0, nowMs - Math.min(...since));
}
