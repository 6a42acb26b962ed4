/** Divides a worker's time between a what-if and production. */

/** A what-if rests this many times as long as a group of calls took: it takes at most a quarter of the worker's time,
 *  so other events wait little longer. */
const RESTS = 3;
/** A group that took longer than a third of this has mostly waited for the candidate, which takes nothing from the worker. */
const REST_MAX_MS = 1_000;

interface GroupOfCalls {
  tookMs: number;
  /** Time that the portion has left. */
  leftMs: number;
  hasBacklog: boolean;
}

/** @returns the rest after a group, and whether the portion ends before it: with a backlog, the next one waits until that is gone */
export function restAfter({ tookMs, leftMs, hasBacklog }: GroupOfCalls): { restMs: number; endsPortion: boolean } {
  const restMs = Math.min(RESTS * tookMs, REST_MAX_MS);
  return { restMs, endsPortion: hasBacklog || restMs >= leftMs };
}
