/** Attempts inside a row of the timeline. */
import type { HistoryEntry } from '../../api/types.ts';
import { msOf, type TimelineAttempt, type TimelineRowData } from './timeline-row-data.ts';

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

/** What a row did for a part of its time: BackOff is the delay between a failed attempt and the next. */
export interface Stretch {
  /** Unix milliseconds. */
  fromMs: number;
  /** null: until now. */
  toMs: number | null;
  kind: TimelineAttempt['status'] | 'Running' | 'Queued' | 'BackOff';
}

/** The attempts of a row and what is between them, up to now. */
export function stretchesOf(row: TimelineRowData): Stretch[] {
  const { attempts, queuedMs, startedMs, endedMs, untilMs, status } = row;
  const past = attempts.flatMap(attemptStretches);
  if (endedMs !== null) return past;
  const lastMs = attempts.at(-1)?.endedMs;
  const fromMs = lastMs ?? (status === 'Queued' ? (queuedMs ?? startedMs) : startedMs);
  if (status === 'Retrying') return [...past, { fromMs, toMs: untilMs, kind: 'BackOff' }];
  return [...past, { fromMs, toMs: null, kind: status === 'Running' ? 'Running' : 'Queued' }];
}

function attemptStretches({ number, queuedMs, startedMs, endedMs, status }: TimelineAttempt): Stretch[] {
  const ran = { fromMs: startedMs, toMs: endedMs, kind: status };
  if (queuedMs === null || queuedMs >= startedMs) return [ran];
  return [{ fromMs: queuedMs, toMs: startedMs, kind: number === 0 ? 'Queued' : 'BackOff' }, ran];
}
