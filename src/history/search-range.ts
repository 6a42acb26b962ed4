/** The time range of a search, narrowed by the search's conditions. */
import { timesOfPrefix } from '../model/search/id-prefix.ts';
import type { RequiredTimes } from '../model/search/narrowing.ts';
import type { TimeRange } from '../store/redis/pagination.ts';

/** undefined if the ranges do not overlap. */
export function narrowed(timeRange: TimeRange, required: RequiredTimes): TimeRange | undefined {
  const after = Math.max(timeRange.after ?? 0, required.after ?? 0);
  const before = Math.min(timeRange.before ?? Number.MAX_SAFE_INTEGER, required.before ?? Number.MAX_SAFE_INTEGER);
  return after < before ? { ...timeRange, after, before } : undefined;
}

/** The times of objects whose ID has the prefix, within the time range; undefined if there are none. */
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
