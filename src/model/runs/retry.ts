/** Delays of retries (docs/protocol.md#retries). */
import { SECOND_MS } from '../values/time.ts';

const SCHEDULE_SECONDS = [15, 30, 60, 120, 300, 600, 1_200, 2_400, 3_600, 7_200] as const;
const JITTER_SECONDS = 30;

export const RETRY_AFTER_MIN_MS = SECOND_MS;
export const RETRY_AFTER_MAX_MS = 86_400 * SECOND_MS;

/** Default number of retries after the first attempt. */
export const DEFAULT_RETRIES = 4;

/** Delay before the next attempt, in milliseconds.
 *  @param attempts attempts so far
 *  @param random in [0, 1), for the jitter
 *  @param scale factor of the total (setting RETRY_SCALE) */
export function retryDelayMs(attempts: number, random: number, scale: number): number {
  const seconds = SCHEDULE_SECONDS[Math.min(attempts, SCHEDULE_SECONDS.length) - 1] as number;
  return Math.round((seconds + random * JITTER_SECONDS) * SECOND_MS * scale);
}

/** Date.parse alone would accept "-5" as a day in 2001. */
const RETRY_DATE = /^(?:[A-Z][a-z]{2}, \d|\d{4}-\d{2}-\d{2})/;

/** Delay of a `retry-after` header (seconds or a date), clamped to 1 s to 24 h; undefined if it is absent or invalid. */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | undefined {
  const value = [header].flat()[0]?.trim() ?? '';
  const date = RETRY_DATE.test(value) ? Date.parse(value) - nowMs : Number.NaN;
  const delayMs = /^\d+(\.\d+)?$/.test(value) ? Number(value) * SECOND_MS : date;
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(delayMs, RETRY_AFTER_MIN_MS), RETRY_AFTER_MAX_MS);
}
