/** The state of a run: more detailed than its status. Imports only types, because the dashboard uses it in the browser. */
import type { Limit } from '../flow-control/limits.ts';
import type { PauseReason } from './pause.ts';

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
  'paused',
] as const;
export const RUN_STATES = [...ACTIVE_STATES, 'completed', 'failed', 'cancelled'] as const;
export type RunStateKind = (typeof RUN_STATES)[number];

export interface RunState {
  kind: RunStateKind;
  /** Latest end, Unix milliseconds: of a sleep or a timeout, or the time of the next attempt or of a future event. */
  until?: number;
  /** Name of the awaited event or signal. */
  name?: string;
  /** The step in question. */
  step?: { id: string; name: string };
  /** Number of the next attempt, counted from 1, and the maximum. */
  attempt?: { next: number; max: number };
  invoked?: { functionId?: string; runId: string };
  /** Why the run is paused. */
  reason?: PauseReason;
  /** The time at which it was paused, Unix milliseconds. */
  since?: number;
  /** The limit that holds the run back; undefined if it only waits behind earlier calls. */
  limit?: Limit;
  /** Position among the calls with the same limits, counted from 1. */
  position?: number;
  /** Number of other states that the run is in. */
  others?: number;
}

/** Chooses the state to show of a run that is in several: what executes, then what a limit holds back, then what ends first.
 *  @param unseen number of states that are unknown */
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
