/** Data of one row of the timeline. */
import type { HistoryEntry } from '../../api/types.ts';

export type RowKind =
  | 'called'
  | 'slept'
  | 'waited'
  | 'signaled'
  | 'invoked'
  | 'requested'
  | 'deferred'
  | 'queued'
  | 'backed_off';

/** Retrying: an attempt failed, and another one follows. Retried: it did, and what followed is another row. */
export type RowStatus =
  | 'Completed'
  | 'Failed'
  | 'Cancelled'
  | 'Waiting'
  | 'Running'
  | 'Queued'
  | 'Retrying'
  | 'Retried';

/** Unix milliseconds. */
export interface TimelineAttempt {
  /** 0 is the first. */
  number: number;
  status: 'Completed' | 'Failed';
  queuedMs: number | null;
  startedMs: number;
  endedMs: number;
  error: HistoryEntry['error'];
  /** HTTP status of a request that failed. */
  httpStatus: number | null;
}

/** Links of a row. */
export interface TimelineLinks {
  /** The run that the step started, or that continued with its signal. */
  runId: string | null;
  /** ID of the function that the step invoked, if known. */
  functionId: string | null;
  /** The event that ended the wait. */
  eventId: string | null;
  /** The first events that the step sent. */
  eventIds: string[];
  /** How many it sent; null: it sends none. */
  eventsSent: number | null;
  request: HistoryEntry['request'];
}

export interface TimelineRowData extends TimelineLinks {
  /** Stable while the run continues. */
  key: string;
  name: string;
  kind: RowKind;
  status: RowStatus;
  stepId: string | null;
  /** A call of the function that only continued from one step to the next. */
  isCall: boolean;
  /** A completed step, whose output can be fetched. */
  hasOutput: boolean;
  /** Oldest first; none: it was not called, but waited. */
  attempts: TimelineAttempt[];
  /** Unix milliseconds. */
  queuedMs: number | null;
  startedMs: number;
  /** null: still running or waiting. */
  endedMs: number | null;
  untilMs: number | null;
  /** Name of the event or signal that a wait is for, where it is not the step's. */
  waitsFor: string | null;
  /** The expression that the event of a wait must meet. */
  condition: string | null;
  /** The event did not arrive in time. */
  timedOut: boolean;
  error: HistoryEntry['error'];
  /** Number of the response that planned it together with others; null: it was planned alone. */
  group: number | null;
}

export function isOpen({ status }: Pick<TimelineRowData, 'status'>): boolean {
  return status === 'Waiting' || status === 'Running' || status === 'Queued' || status === 'Retrying';
}

/** Default values of rows. */
export const PLAIN = {
  isCall: false,
  hasOutput: false,
  attempts: [],
  untilMs: null,
  waitsFor: null,
  condition: null,
  timedOut: false,
  error: null,
  group: null,
  runId: null,
  functionId: null,
  eventId: null,
  eventIds: [],
  eventsSent: null,
  request: null,
} satisfies Partial<TimelineRowData>;

export function msOf(time: string | null): number | null {
  return time === null ? null : Date.parse(time);
}
