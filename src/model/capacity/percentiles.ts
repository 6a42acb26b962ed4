/** Percentiles of durations: exact for few durations, from a histogram for many. */
import { BUCKETS, quantile } from './histogram.ts';

/** Percentiles of fewer durations than this are exact. */
export const EXACT_BELOW = 20;
const SHARES = [0.5, 0.95, 0.99] as const;

/** Counts by bucket (histogram.ts). */
export type Durations = Map<number, number>;

/** A duration kept individually, in addition to its bucket. */
export interface RecentDuration {
  /** When it was recorded, Unix milliseconds. */
  at: number;
  ms: number;
}

/** @param all counts of all durations
 *  @param recent the most recent durations, which may include some from before the range
 *  @param since start of the range, Unix milliseconds
 *  @param until end of the range, exclusive
 *  @returns p50, p95 and p99, milliseconds; undefined when nothing was counted */
export function percentiles(
  all: Durations,
  recent: readonly RecentDuration[],
  since: number,
  until: number,
): readonly [number, number, number] | undefined {
  const counts = Array.from({ length: BUCKETS }, (_, bucket) => all.get(bucket) ?? 0);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const values = recent.filter(({ at }) => at >= since && at < until).map(({ ms }) => ms);
  const isWhole = total < EXACT_BELOW && values.length === total;
  const sorted = values.toSorted((a, b) => a - b);
  const [p50, p95, p99] = SHARES.map((share) => {
    return (isWhole ? sorted[Math.ceil(share * total) - 1] : quantile(counts, share)) as number;
  });
  return [p50 as number, p95 as number, p99 as number];
}
