/** Decides when a webhook without requests counts as silent: only after its usual nights and weekends, and chance, are ruled out. */
import { sum } from '../values/sum.ts';
import { DAY_MS, HOUR_MS, WEEK_MS } from '../values/time.ts';

/** Minimum number of requests in the week before the silence. */
const REQUESTS_MIN = 20;
/** Number of requests that must have been expected in the gap. By chance, such a gap occurs once in e^10 times. */
const EXPECTED_MIN = 10;
const GAP_MIN_MS = HOUR_MS;
/** A webhook's first week may not include a weekend yet, with the nights around it. */
const FIRST_WEEK_GAP_MIN_MS = 3 * DAY_MS;

/** A webhook's requests by hour. */
export interface TrafficHistory {
  /** Hours since 1970, oldest first; hours without requests may be missing. */
  hours: readonly { hour: number; requests: number; longestGapMs: number }[];
  /** Receipt of the last request, Unix milliseconds. */
  lastAt: number;
}

export interface Silence {
  /** The webhook counts as silent from this time on unless a request arrives, Unix milliseconds. */
  from: number;
  requestsPerHour: number;
}

/** Considers the week before the last request.
 *  @returns undefined if too little is known about the traffic */
export function silenceOf({ hours, lastAt }: TrafficHistory): Silence | undefined {
  const week = hours.filter(({ hour }) => (hour + 1) * HOUR_MS > lastAt - WEEK_MS);
  const requests = sum(week, (hour) => hour.requests);
  const [oldest] = hours;
  if (!oldest || requests < REQUESTS_MIN) return undefined;
  // The first request was at some time during the oldest hour.
  const knownMs = lastAt - (oldest.hour + 1) * HOUR_MS;
  const longestGapMs = week.reduce((longest, hour) => Math.max(longest, hour.longestGapMs), 0);
  if (knownMs < DAY_MS) return undefined;
  const requestsPerMs = requests / Math.min(knownMs, WEEK_MS);
  const gapMinMs = knownMs < WEEK_MS - HOUR_MS ? FIRST_WEEK_GAP_MIN_MS : GAP_MIN_MS;
  const gapMs = Math.max(gapMinMs, 2 * longestGapMs, EXPECTED_MIN / requestsPerMs);
  return { from: lastAt + gapMs, requestsPerHour: requestsPerMs * HOUR_MS };
}
