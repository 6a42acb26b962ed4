/** Error groups: the failed runs of one function that have the same fingerprint. */
import type { PrincipalKind } from '../auth/access.ts';
import { HOUR_MS } from '../values/time.ts';

/** A resolved group is reopened by the next failure. */
export const ERROR_GROUP_STATES = ['open', 'resolved'] as const;
export type ErrorGroupState = (typeof ERROR_GROUP_STATES)[number];

/** Failures are counted by hour, as far back as metrics are. */
export const HOURS_KEPT = 7 * 24;

export interface ErrorGroup {
  fingerprint: string;
  functionId: string;
  /** Name of the step that failed; undefined: the function itself did. */
  step: string | undefined;
  /** Name of the last failure's error. */
  name: string;
  message: string;
  state: ErrorGroupState;
  /** Unix milliseconds. */
  firstSeen: number;
  lastSeen: number;
  /** Failed runs since `firstSeen`. */
  count: number;
  /** By the start of the hour, Unix milliseconds. */
  hours: ReadonlyMap<number, number>;
  /** The last failed runs, the newest first. */
  samples: readonly { runId: string; at: number }[];
  /** The first failure since it was opened, or reopened. */
  openedAt: number;
  /** How often a failure reopened it. */
  reopened: number;
  stateChangedAt: number;
  /** undefined: a failure. */
  stateChangedBy: { kind: PrincipalKind; id: string; name: string } | undefined;
}

export const SAMPLES_MAX = 10;

/** The failed runs of the hours that overlap the time range. */
export function countWithin({ hours }: Pick<ErrorGroup, 'hours'>, from: number, to: number): number {
  let count = 0;
  for (const [start, failed] of hours) if (start + HOUR_MS > from && start < to) count += failed;
  return count;
}

/** What several partitions have of one group. It is open where it is open in one of them. */
export function mergedGroup(parts: readonly [ErrorGroup, ...ErrorGroup[]]): ErrorGroup {
  const [first, ...others] = parts;
  return others.reduce((one, other) => {
    const latest = one.lastSeen >= other.lastSeen ? one : other;
    const changed = one.stateChangedAt >= other.stateChangedAt ? one : other;
    const hours = new Map(one.hours);
    for (const [start, count] of other.hours) hours.set(start, (hours.get(start) ?? 0) + count);
    const samples = [...one.samples, ...other.samples].sort((a, b) => b.at - a.at).slice(0, SAMPLES_MAX);
    const states = [one, other].filter(({ state }) => state === 'open');
    return {
      ...latest,
      firstSeen: Math.min(one.firstSeen, other.firstSeen),
      count: one.count + other.count,
      hours,
      samples,
      state: states.length > 0 ? 'open' : 'resolved',
      openedAt: Math.min(...(states.length > 0 ? states : [one, other]).map(({ openedAt }) => openedAt)),
      reopened: Math.max(one.reopened, other.reopened),
      stateChangedAt: changed.stateChangedAt,
      stateChangedBy: changed.stateChangedBy,
    };
  }, first);
}
