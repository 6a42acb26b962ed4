/** When the jobs of a worker that has died, or does not respond, go to another: STALLED_AFTER_SECONDS after its last sign, give or take a tenth. A job's lock
 *  lasts for that time and is renewed often, so a worker that is only slow keeps it; and every worker looks for jobs without a lock often. */
const RENEWALS = 10;
const CHECKS = 20;
const SHORTEST_MS = 20;

export interface TakeOver {
  /** A lock lasts for so long after its last renewal. */
  lockMs: number;
  /** The longest time between two renewals. */
  renewMs: number;
  /** Between two looks of a worker for jobs without a lock. */
  checkMs: number;
  /** At most so long after its worker's death a job is in its queue again. */
  longestMs: number;
}

export function takeOverOf(stalledAfterMs: number): TakeOver {
  const checkMs = Math.max(SHORTEST_MS, stalledAfterMs / CHECKS);
  const renewMs = Math.max(SHORTEST_MS, stalledAfterMs / RENEWALS);
  // One worker's look keeps the others from theirs for as long as it takes until its next, so two may pass between looks.
  return { lockMs: stalledAfterMs, renewMs, checkMs, longestMs: stalledAfterMs + 2 * checkMs };
}
