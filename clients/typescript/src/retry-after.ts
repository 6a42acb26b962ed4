const SECONDS = /^\d+(?:\.\d+)?$/;
/** Only these: Date.parse alone takes "5 minutes" for a day in 2001. */
const DATE = /^(?:[A-Z][a-z]{2}, \d|\d{4}-\d{2}-\d{2})/;

/** The delay a `retry-after` header asks for, in seconds or as a date (RFC 9110, 10.2.3; ISO dates too).
 *  Undefined when it says nothing that can be understood; never negative. */
export function parseRetryAfterMs(header: string | null, nowMs: number): number | undefined {
  const value = header?.trim() ?? '';
  if (SECONDS.test(value)) return Number(value) * 1_000;
  const atMs = DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
