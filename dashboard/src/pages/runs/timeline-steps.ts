/** The row of a step: all entries of the history that are about it. */
import type { HistoryEntry, RunWithHistory } from '../../api/types.ts';
import { hasEnded } from '../../features/runs/run.ts';
import { attemptOf, queuedAfterEachOther } from './timeline-attempts.ts';
import { msOf, type RowKind, type RowStatus, type TimelineAttempt, type TimelineRowData } from './timeline-row-data.ts';

const KINDS: Record<string, RowKind> = {
  Sleep: 'slept',
  WaitForEvent: 'waited',
  WaitForSignal: 'signaled',
  InvokeFunction: 'invoked',
  Gateway: 'requested',
  AIGateway: 'requested',
  DeferAdd: 'deferred',
  DeferAbort: 'deferred',
};
const WITHOUT_OUTPUT: ReadonlySet<RowKind> = new Set(['slept', 'deferred']);

/** @param entries not empty, in their order in the history */
export function stepRow(stepId: string, entries: readonly HistoryEntry[], run: RunWithHistory): TimelineRowData {
  const attempts = attemptsOf(entries);
  const last = entries.findLast(({ kind }) => kind === 'step') ?? (entries.at(-1) as HistoryEntry);
  const find = <Field extends keyof HistoryEntry>(field: Field) =>
    entries.findLast((entry) => entry[field] !== null)?.[field] ?? null;
  const kind = KINDS[find('op') ?? ''] ?? 'called';
  const status = statusOf(last, attempts, entries, run);
  const isOver = status !== 'Waiting' && status !== 'Queued' && status !== 'Retrying' && status !== 'Running';
  const [first] = attempts;
  const queuedMs = first ? first.queuedMs : msOf(last.queued_at);
  return {
    key: `step:${stepId}`,
    name: find('name') ?? `Step ${stepId.slice(0, 8)}`,
    kind,
    status,
    stepId,
    isCall: false,
    hasOutput: status === 'Completed' && !last.timed_out && !WITHOUT_OUTPUT.has(kind),
    attempts,
    queuedMs,
    startedMs: Math.min(first?.startedMs ?? Number.POSITIVE_INFINITY, msOf(last.started_at) ?? queuedMs ?? 0),
    endedMs: isOver ? (msOf(last.ended_at) ?? attempts.at(-1)?.endedMs ?? null) : null,
    untilMs: status === 'Retrying' ? msOf(run.next_try_at) : msOf(last.until),
    waitsFor: last.waits_for === last.name ? null : last.waits_for,
    condition: last.if,
    timedOut: last.timed_out,
    error: status === 'Completed' ? null : (last.error ?? attempts.at(-1)?.error ?? null),
    group: find('group'),
    runId: find('run_id'),
    functionId: last.invoked?.function_id ?? null,
    eventId: find('event_id'),
    eventIds: last.event_ids,
    eventsSent: last.events_sent,
    request: find('request'),
  };
}

/** A call of a single step and the result of the step are one attempt. */
function attemptsOf(entries: readonly HistoryEntry[]): TimelineAttempt[] {
  const attempts: TimelineAttempt[] = [];
  /** The calls that may have their result yet. */
  const open = new Map<number, number>();
  for (const entry of entries) {
    const attempt = attemptOf(entry);
    if (!attempt) continue;
    const at = entry.kind === 'step' ? open.get(attempt.number) : undefined;
    if (at === undefined) {
      if (entry.kind === 'attempt' && entry.status === 'Completed') open.set(attempt.number, attempts.length);
      attempts.push(attempt);
    } else {
      attempts[at] = { ...(attempts[at] as TimelineAttempt), status: attempt.status, error: attempt.error };
      open.delete(attempt.number);
    }
  }
  return queuedAfterEachOther(attempts);
}

function statusOf(
  last: HistoryEntry,
  attempts: readonly TimelineAttempt[],
  entries: readonly HistoryEntry[],
  run: RunWithHistory,
): RowStatus {
  const hasFailed = attempts.at(-1)?.status === 'Failed';
  if (last.status === 'Waiting') {
    if (hasFailed) return run.next_try_at === null ? 'Running' : 'Retrying';
    return last.op === 'StepPlanned' ? 'Queued' : 'Waiting';
  }
  if (last.status !== 'Failed' || last.attempt === null || last.op === 'StepFailed' || hasEnded(run))
    return last.status;
  // An error that the function caught is followed by another call.
  const end = run.history.lastIndexOf(entries.at(-1) as HistoryEntry);
  if (run.history.slice(end + 1).some(({ status }) => status !== 'Waiting')) return 'Failed';
  return run.next_try_at === null ? 'Running' : 'Retrying';
}
