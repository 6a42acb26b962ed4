/** What a run's timeline shows: one row an attempt or step, from its history. */
import type { HistoryEntry, RunWithHistory } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';

/** How its time was spent: the function was called, or the run slept, waited for an event, for another run, or for its turn. */
export type RowKind = 'called' | 'slept' | 'waited' | 'invoked' | 'queued';

export interface TimelineRowData {
  /** Stays the same while the run goes on. */
  key: number;
  name: string;
  kind: RowKind;
  status: 'Completed' | 'Failed' | 'Waiting' | 'Running' | 'Queued';
  /** Tries before this one; null: it is not tried but waited for. */
  attempt: number | null;
  stepId: string | null;
  /** A finished step, whose output can be asked for. */
  isStep: boolean;
  /** Unix milliseconds; when it began to wait for its turn. */
  queuedMs: number | null;
  startedMs: number;
  /** null: it goes on. */
  endedMs: number | null;
  untilMs: number | null;
  /** It waited for an event in vain. */
  timedOut: boolean;
  error: HistoryEntry['error'];
}

const KINDS: Record<string, RowKind> = {
  Sleep: 'slept',
  WaitForEvent: 'waited',
  InvokeFunction: 'invoked',
  StepPlanned: 'queued',
};
/** Of rows that stand for what is not in the history: what happens now. */
const NOW = -1;

export function rowsOf(run: RunWithHistory): TimelineRowData[] {
  const names = namesOf(run.history);
  const rows: TimelineRowData[] = [];
  for (const [index, entry] of run.history.entries()) {
    const next = run.history[index + 1];
    const before = run.history[index - 1];
    // An attempt that did one step is told as that step.
    if (entry.kind === 'attempt' && next && isOf(next, entry) && !isOf(run.history[index + 2], entry)) continue;
    const isSameAttempt = entry.kind === 'step' && before?.kind === 'attempt' && isOf(entry, before);
    rows.push(rowOf(entry, isSameAttempt ? index - 1 : index, names));
  }
  rows.sort((a, b) => a.startedMs - b.startedMs || a.key - b.key);
  setRetryQueueTimes(rows);
  const present = currentRow(run, rows);
  return present ? [...rows, present] : rows;
}

/** From when to when the timeline goes, Unix milliseconds. */
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

/** Whether the entry is a step that ended with that attempt. */
function isOf(entry: HistoryEntry | undefined, attempt: HistoryEntry): boolean {
  return entry?.kind === 'step' && entry.started_at === attempt.started_at && entry.ended_at === attempt.ended_at;
}

function rowOf(entry: HistoryEntry, key: number, names: ReadonlyMap<string, string>): TimelineRowData {
  const { kind, step_id: stepId, status, attempt } = entry;
  const queuedMs = msOf(entry.queued_at);
  return {
    key,
    name: stepId === null ? 'Function' : (names.get(stepId) ?? `Step ${stepId.slice(0, 8)}`),
    kind: KINDS[entry.op ?? ''] ?? 'called',
    status,
    attempt,
    stepId,
    isStep: kind === 'step' && status === 'Completed',
    queuedMs,
    startedMs: msOf(entry.started_at) ?? queuedMs ?? 0,
    endedMs: msOf(entry.ended_at),
    untilMs: msOf(entry.until),
    timedOut: entry.timed_out,
    error: entry.error,
  };
}

/** Attempts tell only the hashed ID of their step. */
function namesOf(history: readonly HistoryEntry[]): Map<string, string> {
  return new Map(history.flatMap(({ step_id, name }) => (step_id !== null && name ? [[step_id, name] as const] : [])));
}

/** A job is queued once for all its tries: each waits from the end of the one before. */
function setRetryQueueTimes(rows: readonly TimelineRowData[]): void {
  const lastEnds = new Map<string, number>();
  for (const row of rows) {
    if (row.attempt === null) continue;
    const lastEnd = lastEnds.get(row.stepId ?? '');
    if (row.attempt > 0 && lastEnd !== undefined) row.queuedMs = lastEnd;
    if (row.endedMs !== null) lastEnds.set(row.stepId ?? '', row.endedMs);
  }
}

/** What happens now and is not in the history: the run is queued, is called, or waits for its next try. */
function currentRow(run: RunWithHistory, rows: readonly TimelineRowData[]): TimelineRowData | undefined {
  if (hasEnded(run)) return undefined;
  const nextTryMs = msOf(run.next_try_at);
  const waits = rows.some(({ endedMs }) => endedMs === null);
  if (waits && nextTryMs === null) return undefined;
  const lastEnd = Math.max(
    ...rows.map(({ endedMs }) => endedMs ?? 0),
    msOf(run.run_started_at) ?? Date.parse(run.queued_at),
  );
  const isCalled = nextTryMs === null && run.status === 'Running';
  return {
    key: NOW,
    name: nextTryMs === null ? 'Function' : 'Next try',
    kind: isCalled ? 'called' : 'queued',
    status: isCalled ? 'Running' : 'Queued',
    attempt: null,
    stepId: null,
    isStep: false,
    queuedMs: null,
    startedMs: lastEnd,
    endedMs: null,
    untilMs: nextTryMs,
    timedOut: false,
    error: null,
  };
}

function msOf(time: string | null): number | null {
  return time === null ? null : Date.parse(time);
}
