/** Attempts inside a row of the timeline. */
import type { HistoryEntry } from '../../api/types.ts';
import { msOf, type TimelineAttempt } from './timeline-rows.ts';

/** undefined: the entry is no attempt, but a wait. */
export function attemptOf(entry: HistoryEntry): TimelineAttempt | undefined {
  const { attempt, status, error, request } = entry;
  const [queuedMs, startedMs, endedMs] = [msOf(entry.queued_at), msOf(entry.started_at), msOf(entry.ended_at)];
  if (attempt === null || startedMs === null || endedMs === null) return undefined;
  const httpStatus = request?.status ?? null;
  return {
    number: attempt,
    status: status === 'Failed' ? 'Failed' : 'Completed',
    queuedMs,
    startedMs,
    endedMs,
    error,
    httpStatus,
  };
}

/** A job is queued once for all its attempts: a retry waits from the end of the previous attempt. */
export function queuedAfterEachOther(attempts: readonly TimelineAttempt[]): TimelineAttempt[] {
  return attempts.map((attempt, i) => {
    const previous = attempts[i - 1];
    return previous && attempt.number > 0 ? { ...attempt, queuedMs: previous.endedMs } : attempt;
  });
}

/** The stretches of a bar: waiting before an attempt, and the attempt. Unix milliseconds. */
export interface Stretch {
  fromMs: number;
  /** null: until now. */
  toMs: number | null;
  /** null: waiting for its turn. */
  status: TimelineAttempt['status'] | 'Running' | null;
}

export function stretchesOf(attempts: readonly TimelineAttempt[]): Stretch[] {
  return attempts.flatMap(({ queuedMs, startedMs, endedMs, status }): Stretch[] => {
    const ran = { fromMs: startedMs, toMs: endedMs, status };
    return queuedMs !== null && queuedMs < startedMs
      ? [{ fromMs: queuedMs, toMs: startedMs, status: null }, ran]
      : [ran];
  });
}
