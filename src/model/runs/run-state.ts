/** Where a run is, in more detail than its status. Imports only types, because the dashboard uses it in the browser. */
import type { Limit } from '../flow-control/limits.ts';

/** States of runs that have not ended. */
export const ACTIVE_STATES = [
  'queued',
  'held',
  'running',
  'retrying',
  'sleeping',
  'waiting_for_event',
  'waiting_for_signal',
  'invoking',
  'requesting',
] as const;
export const RUN_STATES = [...ACTIVE_STATES, 'completed', 'failed', 'cancelled'] as const;
export type RunStateKind = (typeof RUN_STATES)[number];

export interface RunState {
  kind: RunStateKind;
  /** When it ends at the latest, Unix milliseconds: a sleep, a timeout, the time of the next attempt, the start of a run on a future event. */
  until?: number;
  /** Name of the event or signal that it waits for. */
  name?: string;
  /** The step that it is in. */
  step?: { id: string; name: string };
  /** Number of the next attempt, from 1, and of all that there may be. */
  attempt?: { next: number; max: number };
  invoked?: { functionId?: string; runId: string };
  /** What holds it back; undefined: only the calls before it. */
  limit?: Limit;
  /** Place in line among the calls with the same limits, from 1. */
  position?: number;
  /** Other things that the run is in at the same time. */
  others?: number;
}

/** A run may be in several states at the same time. This is the one to name: what runs, then what a limit holds back, then what ends first.
 *  @param unseen of which nothing is known */
export function chosenState(states: readonly RunState[], unseen = 0): RunState | undefined {
  const [first, ...rest] = [...states].sort((a, b) => rankOf(a) - rankOf(b) || (a.until ?? 0) - (b.until ?? 0));
  const others = rest.length + unseen;
  return first && { ...first, ...(others > 0 && { others }) };
}

function rankOf({ kind, until }: RunState): number {
  if (kind === 'running') return 0;
  if (kind === 'held') return 1;
  return until === undefined ? 3 : 2;
}
