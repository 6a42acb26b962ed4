/** The time range of a search, made smaller by what the search requires. */
import type { RequiredTimes } from '../model/search/narrowing.ts';
import type { TimeRange } from '../store/redis/pagination.ts';

/** undefined: nothing is in both. */
export function narrowed(timeRange: TimeRange, required: RequiredTimes): TimeRange | undefined {
  const after = Math.max(timeRange.after ?? 0, required.after ?? 0);
  const before = Math.min(timeRange.before ?? Number.MAX_SAFE_INTEGER, required.before ?? Number.MAX_SAFE_INTEGER);
  return after < before ? { ...timeRange, after, before } : undefined;
}
