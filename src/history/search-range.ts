/** The time range of a search, made smaller by what the search requires. */
import { timesOfPrefix } from '../model/search/id-prefix.ts';
import type { RequiredTimes } from '../model/search/narrowing.ts';
import type { TimeRange } from '../store/redis/pagination.ts';

/** undefined: nothing is in both. */
export function narrowed(timeRange: TimeRange, required: RequiredTimes): TimeRange | undefined {
  const after = Math.max(timeRange.after ?? 0, required.after ?? 0);
  const before = Math.min(timeRange.before ?? Number.MAX_SAFE_INTEGER, required.before ?? Number.MAX_SAFE_INTEGER);
  return after < before ? { ...timeRange, after, before } : undefined;
}

/** The times of what has an ID that begins so, within the time range; undefined: there is none. */
export function withinPrefix(
  timeRange: TimeRange,
  prefix: string | undefined,
  isLater: boolean,
): TimeRange | undefined {
  if (prefix === undefined) return timeRange;
  const times = timesOfPrefix(prefix, isLater);
  if (!times) return undefined;
  const after = Math.max(timeRange.after ?? 0, times.after);
  const before = Math.min(timeRange.before ?? Number.MAX_SAFE_INTEGER, times.before ?? Number.MAX_SAFE_INTEGER);
  return { ...timeRange, after, before };
}
