/** Statistics over many measurements. */

/** Seconds since the start, and the value at that time. */
export type Point = readonly [seconds: number, value: number];

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  if (Number.isInteger(middle)) return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
  return sorted[Math.floor(middle)] as number;
}

/** The quantile by nearest rank. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * q) - 1)] as number;
}

/** Growth per second: the median of the slopes between all pairs of points (Theil–Sen). Outliers, such as the heap right before a
 *  garbage collection, do not move it. */
export function slope(points: readonly Point[]): number {
  const slopes: number[] = [];
  for (const [i, [at, value]] of points.entries()) {
    for (const [later, next] of points.slice(i + 1)) {
      if (later > at) slopes.push((next - value) / (later - at));
    }
  }
  return slopes.length === 0 ? 0 : median(slopes);
}

/** The part of a series between two fractions of its duration, inclusive. */
export function between(points: readonly Point[], from: number, to: number): Point[] {
  const end = points.at(-1)?.[0] ?? 0;
  return points.filter(([at]) => at >= from * end && at <= to * end);
}

export function max(points: readonly Point[]): number {
  return Math.max(...points.map(([, value]) => value));
}

/** Runs the measurements in turns, so that a machine that changes its speed changes all of them.
 *  @returns the median of each */
export async function medians<Name extends string>(
  rounds: number,
  measures: Record<Name, () => Promise<number>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(measures) as Name[];
  const reached = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) reached.get(name)?.push(await measures[name]());
  }
  return Object.fromEntries(names.map((name) => [name, median(reached.get(name) as number[])])) as Record<Name, number>;
}
