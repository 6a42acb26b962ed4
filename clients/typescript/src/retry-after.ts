const SECONDS = /^\d+(?:\.\d+)?$/;
/** Date.parse alone would accept "5 minutes" as a day in 2001. */
const DATE = /^(?:[A-Z][a-z]{2}, \d|\d{4}-\d{2}-\d{2})/;

/** The delay of a `retry-after` header: seconds or a date (RFC 9110, 10.2.3; also ISO dates).
 *  undefined if it is invalid; never negative. */
export function parseRetryAfterMs(header: string | null, nowMs: number): number | undefined {
  const value = header?.trim() ?? '';
  if (SECONDS.test(value)) return Number(value) * 1_000;
  const atMs = DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
