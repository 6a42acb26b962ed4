/** Rows of a run's timeline: one per step with its retries, and the calls of the function itself. */
import type { HistoryEntry, RunWithHistory } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { callRows } from './timeline-calls.ts';
import { isOpen, msOf, PLAIN, type TimelineRowData } from './timeline-row-data.ts';
import { stepRow } from './timeline-steps.ts';

/** Rows in the order in which they began; steps that were planned together are adjacent. */
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
  const toMs = rows.reduce((latest, row) => Math.max(latest, row.endedMs ?? retryMs(row)), ended);
  return { fromMs, toMs: Math.max(toMs, fromMs + 1) };
}

/** The delay before a retry is drawn whole. */
function retryMs({ status, untilMs }: TimelineRowData): number {
  return status === 'Retrying' ? (untilMs ?? 0) : 0;
}

/** Whether the entry is a call that ran exactly one step, and is shown as that step. */
function ranOneStep(history: readonly HistoryEntry[], index: number): boolean {
  const [call, next, afterNext] = history.slice(index, index + 3);
  if (call?.status !== 'Completed') return false;
  const isOf = (entry: HistoryEntry | undefined) =>
    entry?.kind === 'step' && entry.started_at === call.started_at && entry.ended_at === call.ended_at;
  return isOf(next) && !isOf(afterNext);
}

/** A bracket around a single row would be meaningless. */
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
  const isBackOff = nextAttemptMs !== null && rows.some(({ status }) => status === 'Retried');
  return {
    ...PLAIN,
    key: 'now',
    name: nextAttemptMs === null ? 'Function' : 'Next attempt',
    kind: isCalled ? 'called' : isBackOff ? 'backed_off' : 'queued',
    status: isCalled ? 'Running' : isBackOff ? 'Retrying' : 'Queued',
    stepId: null,
    queuedMs: null,
    startedMs,
    endedMs: null,
    untilMs: nextAttemptMs,
  };
}
