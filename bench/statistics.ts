/** What is made of many figures. */

/** A moment, in seconds from the beginning, and what was seen then. */
export type Point = readonly [seconds: number, value: number];

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  if (Number.isInteger(middle)) return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
  return sorted[Math.floor(middle)] as number;
}

/** The nearest rank: the least of the values than which no more than the share `1 - q` are greater. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * q) - 1)] as number;
}

/** By how much the values grow in a second: the median of the slopes between all pairs of points (Theil and Sen), which a few
 *  outliers, such as the heap right before a garbage collection, do not move. */
export function slope(points: readonly Point[]): number {
  const slopes: number[] = [];
  for (const [i, [at, value]] of points.entries()) {
    for (const [later, next] of points.slice(i + 1)) {
      if (later > at) slopes.push((next - value) / (later - at));
    }
  }
  return slopes.length === 0 ? 0 : median(slopes);
}

/** The part of a series between two shares of its time, ends included. */
export function between(points: readonly Point[], from: number, to: number): Point[] {
  const end = points.at(-1)?.[0] ?? 0;
  return points.filter(([at]) => at >= from * end && at <= to * end);
}

export function highest(points: readonly Point[]): number {
  return Math.max(...points.map(([, value]) => value));
}
