/** Timing of taking over jobs of a worker that has died or does not respond: STALLED_AFTER_SECONDS after its last sign of life, give or
 *  take a tenth. A lock lasts that long and is renewed often, so a slow worker keeps its jobs; and every worker checks often for jobs
 *  without a lock. */
const RENEWALS = 10;
const CHECKS = 20;
const SHORTEST_MS = 20;

export interface TakeOver {
  /** Lifetime of a lock after its last renewal. */
  lockMs: number;
  /** Maximum time between two renewals. */
  renewMs: number;
  /** Time between two checks of a worker for jobs without a lock. */
  checkMs: number;
  /** Maximum time after which a dead worker's job is in its queue again. */
  longestMs: number;
}

export function takeOverOf(stalledAfterMs: number): TakeOver {
  const checkMs = Math.max(SHORTEST_MS, stalledAfterMs / CHECKS);
  const renewMs = Math.max(SHORTEST_MS, stalledAfterMs / RENEWALS);
  // A worker's check keeps other workers from checking until its next check, so a job may wait for two intervals.
  return { lockMs: stalledAfterMs, renewMs, checkMs, longestMs: stalledAfterMs + 2 * checkMs };
}
