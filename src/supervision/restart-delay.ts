/** Delays the replacement of ended processes, so that a process that cannot start does not use up the machine's time. */

/** A process that ran this long did start. */
export const STABLE_MS = 60_000;

const FIRST_MS = 500;
const MAX_MS = 30_000;

/** @param quickEnds number of processes in a row, including this one, that ran for less than STABLE_MS */
export function restartDelayMs(quickEnds: number): number {
  return quickEnds <= 1 ? 0 : Math.min(MAX_MS, FIRST_MS * 2 ** (quickEnds - 2));
}
