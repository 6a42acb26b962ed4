/** Rows of a run's timeline: one per attempt or step of its history. */
import type { HistoryEntry, RunWithHistory } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';

export type RowKind = 'called' | 'slept' | 'waited' | 'signaled' | 'invoked' | 'requested' | 'deferred' | 'queued';

export interface TimelineRowData {
  /** Stable while the run continues. */
  key: number;
  name: string;
  kind: RowKind;
  status: 'Completed' | 'Failed' | 'Cancelled' | 'Waiting' | 'Running' | 'Queued';
  /** 0 is the first; null: not an attempt but a wait. */
  attempt: number | null;
  stepId: string | null;
  /** A completed step, whose output can be fetched. */
  isStep: boolean;
  /** Unix milliseconds. */
  queuedMs: number | null;
  startedMs: number;
  /** null: still running or waiting. */
  endedMs: number | null;
  untilMs: number | null;
  /** Name of the event or signal that a wait is for, where it is not the step's. */
  waitsFor: string | null;
  /** The event did not arrive in time. */
  timedOut: boolean;
  error: HistoryEntry['error'];
}

const KINDS: Record<string, RowKind> = {
  Sleep: 'slept',
  WaitForEvent: 'waited',
  WaitForSignal: 'signaled',
  InvokeFunction: 'invoked',
  Gateway: 'requested',
  AIGateway: 'requested',
  DeferAdd: 'deferred',
  DeferAbort: 'deferred',
  StepPlanned: 'queued',
};
/** Key of the row for the current state, which is not in the history. */
const CURRENT = -1;

export function rowsOf(run: RunWithHistory): TimelineRowData[] {
  const names = namesOf(run.history);
  const rows: TimelineRowData[] = [];
  for (const [index, entry] of run.history.entries()) {
    const next = run.history[index + 1];
    const before = run.history[index - 1];
    // An attempt that ran exactly one step is shown as that step.
    if (entry.kind === 'attempt' && next && isOf(next, entry) && !isOf(run.history[index + 2], entry)) continue;
    const isSameAttempt = entry.kind === 'step' && before?.kind === 'attempt' && isOf(entry, before);
    rows.push(rowOf(entry, isSameAttempt ? index - 1 : index, names));
  }
  rows.sort((a, b) => a.startedMs - b.startedMs || a.key - b.key);
  setRetryQueueTimes(rows);
  const present = currentRow(run, rows);
  return present ? [...rows, present] : rows;
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

/** Whether the entry is a step of that attempt. */
function isOf(entry: HistoryEntry | undefined, attempt: HistoryEntry): boolean {
  return entry?.kind === 'step' && entry.started_at === attempt.started_at && entry.ended_at === attempt.ended_at;
}

function rowOf(entry: HistoryEntry, key: number, names: ReadonlyMap<string, string>): TimelineRowData {
  const { kind: entryKind, step_id: stepId, status, attempt } = entry;
  const kind = KINDS[entry.op ?? ''] ?? 'called';
  const queuedMs = msOf(entry.queued_at);
  return {
    key,
    name: stepId === null ? 'Function' : (names.get(stepId) ?? `Step ${stepId.slice(0, 8)}`),
    kind,
    status,
    attempt,
    stepId,
    isStep: entryKind === 'step' && status === 'Completed' && kind !== 'deferred',
    queuedMs,
    startedMs: msOf(entry.started_at) ?? queuedMs ?? 0,
    endedMs: msOf(entry.ended_at),
    untilMs: msOf(entry.until),
    waitsFor: entry.waits_for === entry.name ? null : entry.waits_for,
    timedOut: entry.timed_out,
    error: entry.error,
  };
}

/** Attempts have only the hashed ID of their step. */
function namesOf(history: readonly HistoryEntry[]): Map<string, string> {
  return new Map(history.flatMap(({ step_id, name }) => (step_id !== null && name ? [[step_id, name] as const] : [])));
}

/** A job is queued once for all its attempts: a retry waits from the end of the previous attempt. */
function setRetryQueueTimes(rows: readonly TimelineRowData[]): void {
  const lastEnds = new Map<string, number>();
  for (const row of rows) {
    if (row.attempt === null) continue;
    const lastEnd = lastEnds.get(row.stepId ?? '');
    if (row.attempt > 0 && lastEnd !== undefined) row.queuedMs = lastEnd;
    if (row.endedMs !== null) lastEnds.set(row.stepId ?? '', row.endedMs);
  }
}

/** The current state, which is not in the history: queued, being called, or waiting for the next attempt. */
function currentRow(run: RunWithHistory, rows: readonly TimelineRowData[]): TimelineRowData | undefined {
  if (hasEnded(run)) return undefined;
  const nextAttemptMs = msOf(run.next_try_at);
  const waits = rows.some(({ endedMs }) => endedMs === null);
  if (waits && nextAttemptMs === null) return undefined;
  const lastEnd = Math.max(
    ...rows.map(({ endedMs }) => endedMs ?? 0),
    msOf(run.run_started_at) ?? Date.parse(run.queued_at),
  );
  const isCalled = nextAttemptMs === null && run.status === 'Running';
  return {
    key: CURRENT,
    name: nextAttemptMs === null ? 'Function' : 'Next attempt',
    kind: isCalled ? 'called' : 'queued',
    status: isCalled ? 'Running' : 'Queued',
    attempt: null,
    stepId: null,
    isStep: false,
    queuedMs: null,
    startedMs: lastEnd,
    endedMs: null,
    untilMs: nextAttemptMs,
    waitsFor: null,
    timedOut: false,
    error: null,
  };
}

function msOf(time: string | null): number | null {
  return time === null ? null : Date.parse(time);
}
