/** Error groups: the failed runs of one function that have the same fingerprint. */
import type { PrincipalKind } from '../auth/access.ts';
import { addTo } from '../values/counting.ts';
import { HOUR_MS } from '../values/time.ts';

/** The next failure reopens a resolved group; an ignored one stays as it is. */
export const ERROR_GROUP_STATES = ['open', 'resolved', 'ignored'] as const;
export type ErrorGroupState = (typeof ERROR_GROUP_STATES)[number];

/** Failures are counted by hour, for as long as metrics are kept. */
export const HOURS_KEPT = 7 * 24;

export interface ErrorGroup {
  fingerprint: string;
  functionId: string;
  /** Name of the step that failed; undefined if the function itself failed. */
  step: string | undefined;
  /** Name of the latest failure's error. */
  name: string;
  message: string;
  state: ErrorGroupState;
  /** Unix milliseconds. */
  firstSeen: number;
  lastSeen: number;
  /** Failed runs since `firstSeen`. */
  count: number;
  /** Number of these runs whose event names a user. Earlier versions counted none. */
  withUser: number;
  /** Failed runs by start of the hour, Unix milliseconds. */
  hours: ReadonlyMap<number, number>;
  /** The last failed runs, newest first. */
  samples: readonly { runId: string; at: number }[];
  /** The first failure since the group was opened or reopened. */
  openedAt: number;
  /** How often a failure has reopened the group. */
  reopened: number;
  stateChangedAt: number;
  /** undefined if a failure changed it. */
  stateChangedBy: { kind: PrincipalKind; id: string; name: string } | undefined;
  /** Names of the alert channels to which its alerts are sent; undefined: those of the rule. */
  alertChannels: readonly string[] | undefined;
}

export const SAMPLES_MAX = 10;

/** The failed runs of the hours that overlap the time range. */
export function countWithin({ hours }: Pick<ErrorGroup, 'hours'>, from: number, to: number): number {
  let count = 0;
  for (const [start, failed] of hours) if (start + HOUR_MS > from && start < to) count += failed;
  return count;
}

/** Merges one group's records of several partitions. A user changes all records; a partition's first failure makes an
 *  open one. So the group is ignored if any record is, and otherwise open if any is. */
export function mergedGroup(parts: readonly [ErrorGroup, ...ErrorGroup[]]): ErrorGroup {
  const [first, ...others] = parts;
  return others.reduce((merged, other) => {
    const latest = merged.lastSeen >= other.lastSeen ? merged : other;
    const hours = new Map(merged.hours);
    for (const [start, count] of other.hours) addTo(hours, start, count);
    const samples = [...merged.samples, ...other.samples].sort((a, b) => b.at - a.at).slice(0, SAMPLES_MAX);
    const states = [merged, other].filter(({ state }) => state === 'open');
    const isIgnored = merged.state === 'ignored' || other.state === 'ignored';
    const isOpen = states.length > 0 && !isIgnored;
    const [changed] = (isIgnored ? [merged, other].filter(({ state }) => state === 'ignored') : [merged, other]).sort(
      (a, b) => b.stateChangedAt - a.stateChangedAt,
    ) as [ErrorGroup];
    // A user changes all records: a record that is still resolved was reopened by a failure in another partition.
    const reopenings = [merged, other].map(({ state, reopened }) =>
      isOpen && state === 'resolved' ? reopened + 1 : reopened,
    );
    return {
      ...latest,
      firstSeen: Math.min(merged.firstSeen, other.firstSeen),
      count: merged.count + other.count,
      withUser: merged.withUser + other.withUser,
      hours,
      samples,
      state: isIgnored ? 'ignored' : isOpen ? 'open' : 'resolved',
      openedAt: Math.min(...(isOpen ? states : [merged, other]).map(({ openedAt }) => openedAt)),
      reopened: Math.max(...reopenings),
      stateChangedAt: changed.stateChangedAt,
      stateChangedBy: changed.stateChangedBy,
      alertChannels: merged.alertChannels ?? other.alertChannels,
    };
  }, first);
}
