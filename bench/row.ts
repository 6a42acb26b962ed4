/** A row of the results: a measured value with its references from the same run and its targets. */
export interface Reference {
  what: string;
  /** In the row's unit. */
  value: number;
}

/** `least` and `most` bound the value. Of the named reference, it must be at least a `share`, or at most so many `times`. */
export type Target =
  | { least: number }
  | { most: number }
  | { share: number; of: string }
  | { times: number; of: string };

export interface Row {
  group: Group;
  work: string;
  value: number;
  unit: string;
  /** Measured in the same run. */
  references: Reference[];
  /** What the value consists of, in the row's unit, as far as it was measured part by part. */
  parts?: Record<string, number>;
  /** The row must meet all of them. Without targets it is informational. */
  targets: Target[];
}

export const GROUPS = [
  'requests',
  'at-work',
  'cluster',
  'fsync',
  'acknowledgement',
  'exactly-once',
  'ingest',
  'runs',
  'what-if',
  'flow-control',
  'schedules',
  'memory',
  'soak',
  'growth',
  'sleepers',
  'archiver',
  'archive',
  'archive-bytes',
  'dashboard',
] as const;
export type Group = (typeof GROUPS)[number];

/** @returns undefined for a row without targets */
export function meetsTargets(row: Row): boolean | undefined {
  return row.targets.length === 0 ? undefined : row.targets.every((target) => meets(row, target));
}

/** A missing reference and NaN miss every target. */
function meets({ value, references }: Row, target: Target): boolean {
  if ('least' in target) return value >= target.least;
  if ('most' in target) return value <= target.most;
  const reference = references.find(({ what }) => what === target.of);
  if (reference === undefined) return false;
  return 'times' in target ? value <= target.times * reference.value : value >= target.share * reference.value;
}

/** The target in the row's unit; undefined without its reference. */
export function targetValue({ references }: Row, target: Target): number | undefined {
  if ('least' in target) return target.least;
  if ('most' in target) return target.most;
  const reference = references.find(({ what }) => what === target.of);
  return reference && ('times' in target ? target.times : target.share) * reference.value;
}
