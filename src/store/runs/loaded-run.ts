/** The state of a run that a call loads. */
import { type EventRecord, recordOf } from '../../model/events/event.ts';
import type { Memo, Pending } from '../../model/runs/memo.ts';
import type { Run } from '../../model/runs/run.ts';
import { type NewRun, startedRun } from './run-writing.ts';

/** A call of a run's function. */
export interface CallOf {
  env: string;
  runId: string;
  eventId: string;
  /** Length of the stack that the call is for; undefined for the call of a planned step. */
  finishedSteps?: number | undefined;
  /** Hashed ID of the planned step to run. */
  stepId?: string | undefined;
  /** Hashed ID of the sleep that ends with the call. */
  sleep?: string | undefined;
}

/** State of the run that a call finds. */
export type LoadedState =
  | ({ state: 'due' } & Loaded)
  | { state: 'ended'; run: Run }
  /** The run's function is paused, so the run must not start. */
  | { state: 'held'; run: Run }
  | { state: 'paused'; run: Run }
  /** The run has more finished steps than the call is for, and the call for these may be missing, because a worker died. */
  | { state: 'nextCallDue'; run: Run; finishedSteps: number }
  /** The sleep must end first, because the run does more than this sleep. */
  | { state: 'sleeps' }
  /** There is no such run, or another call does the work of this call. */
  | { state: 'superseded' };

/** Everything a call needs. */
export interface Loaded {
  run: Run;
  /** undefined if the event is no longer stored. */
  event: EventRecord | undefined;
  stack: string[];
  memos: Record<string, Memo>;
  /** The memos do not fit into a call: long ones are null. */
  omitsMemos?: true;
  /** Number of steps that have begun and not finished. */
  pending: number;
  /** The planned step that the call is for. */
  step?: Pending;
  /** New steps are only planned, not run in this call: other steps are pending, or another call may plan the same ones. */
  planOnly: boolean;
}

/** The state of a run for its first call, if that call starts as the run is created. */
export function startOf(run: NewRun, startsAt: number): Loaded {
  const event = run.job?.event && recordOf(run.job.event);
  return { run: startedRun(run, startsAt), event, stack: [], memos: {}, pending: 0, planOnly: false };
}
