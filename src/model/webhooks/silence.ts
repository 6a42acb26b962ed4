/** When a webhook that gets no more requests counts as silent: not before its own nights and weekends, and chance, are ruled out. */
import { DAY_MS, HOUR_MS, WEEK_MS } from '../values/time.ts';

/** Requests of the week before the silence. */
const REQUESTS_MIN = 20;
/** By chance, a gap in which so many requests would have been expected comes once in e^10. */
const EXPECTED_MIN = 10;
const GAP_MIN_MS = HOUR_MS;
/** In its first week, the weekend of a webhook may be still to come, with the nights before and after it. */
const FIRST_WEEK_GAP_MIN_MS = 3 * DAY_MS;

/** Requests of a webhook by the hour. */
export interface TrafficHistory {
  /** Hours since 1970, oldest first; those without requests may be missing. */
  hours: readonly { hour: number; requests: number; longestGapMs: number }[];
  /** Receipt of the last request, Unix milliseconds. */
  lastAt: number;
}

export interface Silence {
  /** The webhook is silent from then on if there is no request before, Unix milliseconds. */
  from: number;
  requestsPerHour: number;
}

/** Looks at the week before the last request.
 *  @returns undefined: too little is known of its traffic */
export function silenceOf({ hours, lastAt }: TrafficHistory): Silence | undefined {
  const week = hours.filter(({ hour }) => (hour + 1) * HOUR_MS > lastAt - WEEK_MS);
  const requests = week.reduce((sum, hour) => sum + hour.requests, 0);
  const [oldest] = hours;
  if (!oldest || requests < REQUESTS_MIN) return undefined;
  // The first request came at some time of the oldest hour.
  const knownMs = lastAt - (oldest.hour + 1) * HOUR_MS;
  const longestGapMs = week.reduce((longest, hour) => Math.max(longest, hour.longestGapMs), 0);
  if (knownMs < DAY_MS) return undefined;
  const requestsPerMs = requests / Math.min(knownMs, WEEK_MS);
  const gapMinMs = knownMs < WEEK_MS - HOUR_MS ? FIRST_WEEK_GAP_MIN_MS : GAP_MIN_MS;
  const gapMs = Math.max(gapMinMs, 2 * longestGapMs, EXPECTED_MIN / requestsPerMs);
  return { from: lastAt + gapMs, requestsPerHour: requestsPerMs * HOUR_MS };
}
