/** Durations and times in the protocol's format. */

/** Milliseconds, or a time string such as `30s`, `2h45m`, `1d`, `1w`. */
export type Duration = number | string;

const TIME_STRING = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w)\s*)+$/;

/** @throws TypeError if it is not a duration */
export function timeString(duration: Duration): string {
  if (typeof duration === 'string' && TIME_STRING.test(duration)) return duration;
  if (typeof duration === 'number' && Number.isFinite(duration)) return `${Math.max(0, Math.ceil(duration))}ms`;
  throw new TypeError(
    `Got ${JSON.stringify(duration)}; a length of time is milliseconds, or such as "30s", "2h45m", "1d"`,
  );
}

const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g;
const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** undefined if the text is not a time string. */
export function timeStringMs(text: string): number | undefined {
  if (!TIME_STRING.test(text)) return undefined;
  const parts = [...text.matchAll(PART)].map(([, amount, unit = '']) => Number(amount) * (UNIT_MS[unit] ?? 0));
  return parts.reduce((sum, ms) => sum + ms, 0);
}

/** The time of a time string (relative to now) or an ISO date, in milliseconds since 1970. */
export function momentMs(text: string, nowMs: number): number {
  const length = timeStringMs(text);
  return length === undefined ? Date.parse(text) : nowMs + length;
}

/** As an ISO date.
 *  @throws TypeError if it is not a valid date */
export function isoDate(moment: Date | string): string {
  const date = new Date(moment);
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new TypeError(`Got ${JSON.stringify(moment)}; a moment is a Date or an ISO date`);
}

/** A timeout is a duration or a date. */
export function timeoutOf(timeout: Duration | Date): string {
  return timeout instanceof Date ? isoDate(timeout) : timeString(timeout);
}
