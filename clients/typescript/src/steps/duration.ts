/** Delays and moments as the protocol writes them. */

/** Milliseconds; or a time string such as `30s`, `2h45m`, `1d`, `1w`. */
export type Duration = number | string;

const TIME_STRING = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w)\s*)+$/;

/** @throws TypeError when it is no length of time */
export function timeString(duration: Duration): string {
  if (typeof duration === 'string' && TIME_STRING.test(duration)) return duration;
  if (typeof duration === 'number' && Number.isFinite(duration)) return `${Math.max(0, Math.ceil(duration))}ms`;
  throw new TypeError(
    `Got ${JSON.stringify(duration)}; a length of time is milliseconds, or such as "30s", "2h45m", "1d"`,
  );
}

/** As an ISO date.
 *  @throws TypeError when it is no moment */
export function isoDate(moment: Date | string): string {
  const date = new Date(moment);
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new TypeError(`Got ${JSON.stringify(moment)}; a moment is a Date or an ISO date`);
}

/** A time-out may be given as a length or as a moment. */
export function timeoutOf(timeout: Duration | Date): string {
  return timeout instanceof Date ? isoDate(timeout) : timeString(timeout);
}
