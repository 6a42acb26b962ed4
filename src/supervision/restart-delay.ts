/** How long a process that ended is not replaced, so that one that cannot start does not take the machine's time. */

/** A process that ran for so long did start. */
export const STABLE_MS = 60_000;

const FIRST_MS = 500;
const MAX_MS = 30_000;

/** @param quickEnds processes in a row, this one included, that ran for less than STABLE_MS */
export function restartDelayMs(quickEnds: number): number {
  return quickEnds <= 1 ? 0 : Math.min(MAX_MS, FIRST_MS * 2 ** (quickEnds - 2));
}
