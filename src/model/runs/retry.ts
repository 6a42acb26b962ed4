/** When to try again (docs/protocol.md#retries). */
const SECOND_MS = 1_000;
const SCHEDULE_SECONDS = [15, 30, 60, 120, 300, 600, 1_200, 2_400, 3_600, 7_200] as const;
const JITTER_SECONDS = 30;

export const RETRY_AFTER_MIN_MS = SECOND_MS;
export const RETRY_AFTER_MAX_MS = 86_400 * SECOND_MS;

/** Retries after the first try, where a function says nothing (docs/protocol.md#registration). */
export const DEFAULT_RETRIES = 4;

/** Delay before the try after the `tries`th, in milliseconds.
 *  @param random in [0, 1), for the jitter
 *  @param scale factor on the whole (setting RETRY_SCALE) */
export function retryDelayMs(tries: number, random: number, scale: number): number {
  const seconds = SCHEDULE_SECONDS[Math.min(tries, SCHEDULE_SECONDS.length) - 1] as number;
  return Math.round((seconds + random * JITTER_SECONDS) * SECOND_MS * scale);
}

/** Only these: Date.parse alone takes "-5" for a day in 2001. */
const RETRY_DATE = /^(?:[A-Z][a-z]{2}, \d|\d{4}-\d{2}-\d{2})/;

/** Delay that a `retry-after` header asks for (seconds, or a date), held between 1 s and 24 h; undefined if it is neither. */
export function retryAfterMs(header: string, nowMs: number): number | undefined {
  const value = header.trim();
  const date = RETRY_DATE.test(value) ? Date.parse(value) - nowMs : Number.NaN;
  const delayMs = /^\d+(\.\d+)?$/.test(value) ? Number(value) * SECOND_MS : date;
  return Number.isNaN(delayMs) ? undefined : Math.min(Math.max(delayMs, RETRY_AFTER_MIN_MS), RETRY_AFTER_MAX_MS);
}
