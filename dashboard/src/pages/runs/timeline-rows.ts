/** Rows of a run's timeline: one per step with its retries, and the calls of the function itself. */
import type { HistoryEntry, RunWithHistory } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { callRows } from './timeline-calls.ts';
import { stepRow } from './timeline-steps.ts';

export type RowKind = 'called' | 'slept' | 'waited' | 'signaled' | 'invoked' | 'requested' | 'deferred' | 'queued';

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

/** What a row links to. */
export interface TimelineLinks {
  /** The run that the step started, or that went on with its signal. */
  runId: string | null;
  /** ID of the function that the step invoked, where it is known. */
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
  /** A call of the function that only went on from one step to the next. */
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
  /** What the event of a wait must meet. */
  condition: string | null;
  /** The event did not arrive in time. */
  timedOut: boolean;
  error: HistoryEntry['error'];
  /** Number of the response that planned it together with others; null: it was planned alone. */
  group: number | null;
}

/** In the order in which they began; steps that were planned together follow each other. */
export function rowsOf(run: RunWithHistory): TimelineRowData[] {
  const steps = new Map<string, HistoryEntry[]>();
  const calls: [index: number, entry: HistoryEntry][] = [];
  for (const [index, entry] of run.history.entries()) {
    if (entry.step_id !== null) steps.set(entry.step_id, [...(steps.get(entry.step_id) ?? []), entry]);
    else if (!ranOneStep(run.history, index)) calls.push([index, entry]);
  }
  const rows = [
    ...[...steps].map(([stepId, entries]) => stepRow(stepId, entries, run)),
    ...callRows(calls, run, steps),
  ];
  const sorted = inOrder(withoutLoneGroups(rows));
  const present = currentRow(run, sorted);
  return present ? [...sorted, present] : sorted;
}

/** Time range of the timeline, Unix milliseconds. */
export function extentOf(
  run: RunWithHistory,
  rows: readonly TimelineRowData[],
  nowMs: number,
): { fromMs: number; toMs: number } {
  const fromMs = Date.parse(run.queued_at);
  const ended = run.ended_at === null ? nowMs : Date.parse(run.ended_at);
  const toMs = rows.reduce((latest, { endedMs }) => Math.max(latest, endedMs ?? 0), ended);
  return { fromMs, toMs: Math.max(toMs, fromMs + 1) };
}

export function isOpen({ status }: Pick<TimelineRowData, 'status'>): boolean {
  return status === 'Waiting' || status === 'Running' || status === 'Queued' || status === 'Retrying';
}

/** What most rows have. */
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

/** Whether the entry is a call that ran exactly one step, and is shown as that step. */
function ranOneStep(history: readonly HistoryEntry[], index: number): boolean {
  const [call, next, afterNext] = history.slice(index, index + 3);
  if (call?.status !== 'Completed') return false;
  const isOf = (entry: HistoryEntry | undefined) =>
    entry?.kind === 'step' && entry.started_at === call.started_at && entry.ended_at === call.ended_at;
  return isOf(next) && !isOf(afterNext);
}

/** A bracket around one row says nothing. */
function withoutLoneGroups(rows: readonly TimelineRowData[]): TimelineRowData[] {
  const sizes = Map.groupBy(rows, ({ group }) => group);
  return rows.map((row) => (row.group !== null && sizes.get(row.group)?.length === 1 ? { ...row, group: null } : row));
}

function inOrder(rows: readonly TimelineRowData[]): TimelineRowData[] {
  const groupStarts = new Map<number, number>();
  for (const { group, startedMs } of rows) {
    if (group !== null) groupStarts.set(group, Math.min(startedMs, groupStarts.get(group) ?? startedMs));
  }
  const startOf = ({ group, startedMs }: TimelineRowData) =>
    group === null ? startedMs : (groupStarts.get(group) ?? 0);
  return [...rows].sort(
    (a, b) => startOf(a) - startOf(b) || (a.group ?? -1) - (b.group ?? -1) || a.startedMs - b.startedMs,
  );
}

/** The current state, which is not in the history: queued, being called, or waiting for the next attempt. */
function currentRow(run: RunWithHistory, rows: readonly TimelineRowData[]): TimelineRowData | undefined {
  if (hasEnded(run) || rows.some(isOpen)) return undefined;
  const nextAttemptMs = msOf(run.next_try_at);
  const startedMs = Math.max(
    ...rows.map(({ endedMs }) => endedMs ?? 0),
    msOf(run.run_started_at) ?? Date.parse(run.queued_at),
  );
  const isCalled = nextAttemptMs === null && run.waiting === null && run.status === 'Running';
  return {
    ...PLAIN,
    key: 'now',
    name: nextAttemptMs === null ? 'Function' : 'Next attempt',
    kind: isCalled ? 'called' : 'queued',
    status: isCalled ? 'Running' : 'Queued',
    stepId: null,
    queuedMs: null,
    startedMs,
    endedMs: null,
    untilMs: nextAttemptMs,
  };
}
