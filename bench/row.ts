/** One row of the table: what was reached, beside its references of the same run and what is to be reached. */
export interface Reference {
  what: string;
  /** In the row's unit. */
  value: number;
}

/** `least` and `most` are of the value; `share` is of the reference that is named. */
export type Target = { least: number } | { most: number } | { share: number; of: string };

export interface Row {
  group: Group;
  work: string;
  value: number;
  unit: string;
  /** Measured in the same run. */
  references: Reference[];
  /** All of them are to be met; none: the row is only told. */
  targets: Target[];
}

export const GROUPS = ['requests', 'fsync', 'acknowledgement', 'ingest', 'runs', 'memory', 'soak', 'growth'] as const;
export type Group = (typeof GROUPS)[number];

/** @returns undefined where there is nothing to reach */
export function isReached(row: Row): boolean | undefined {
  return row.targets.length === 0 ? undefined : row.targets.every((target) => meets(row, target));
}

/** A share of a reference that is not there is not met, and no figure that is not a number meets anything. */
function meets({ value, references }: Row, target: Target): boolean {
  if ('least' in target) return value >= target.least;
  if ('most' in target) return value <= target.most;
  const reference = references.find(({ what }) => what === target.of);
  return reference !== undefined && value >= target.share * reference.value;
}

/** The figure that a target comes to, in the row's unit; undefined when its reference is not there. */
export function wantedOf({ references }: Row, target: Target): number | undefined {
  if ('least' in target) return target.least;
  if ('most' in target) return target.most;
  const reference = references.find(({ what }) => what === target.of);
  return reference && target.share * reference.value;
}
