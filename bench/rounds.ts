/** Measures that are compared take turns, so that a machine that changes its pace changes that of all of them. */
import { median } from './statistics.ts';

/** @returns the median of each */
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
