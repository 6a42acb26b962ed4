/** Durations in milliseconds, and times as text. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const WEEK_MS = 7 * DAY_MS;

/** Unix milliseconds: from inclusive, to exclusive. */
export interface Interval {
  from: number;
  to: number;
}

/** The start of the interval that a time is in, such as its minute or its day in UTC. */
export function floorTo(timeMs: number, intervalMs: number): number {
  return Math.floor(timeMs / intervalMs) * intervalMs;
}

/** @param timeMs Unix milliseconds
 *  @returns ISO 8601 in UTC */
export function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
