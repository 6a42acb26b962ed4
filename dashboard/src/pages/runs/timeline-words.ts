/** A row of the timeline in words: what happened, or what happens now. */
import { duration, relative } from '../../ui/time.tsx';
import type { RowKind, TimelineRowData } from './timeline-row-data.ts';

const WAITING: Record<RowKind, string> = {
  called: 'queued',
  slept: 'sleeping',
  waited: 'waiting for event',
  signaled: 'waiting for signal',
  invoked: 'waiting for invoked function',
  requested: 'requesting',
  deferred: 'deferred until the end',
  queued: 'queued',
  backed_off: 'waiting',
};
const COMPLETED: Record<RowKind, string> = {
  called: 'completed',
  slept: 'slept',
  waited: 'received event',
  signaled: 'received signal',
  invoked: 'invoked',
  requested: 'received response',
  deferred: 'deferred until the end',
  queued: 'queued',
  backed_off: 'waited',
};
const FAILED: Partial<Record<RowKind, string>> = { requested: 'request failed', invoked: 'invoked function failed' };

export function wordsOf(row: TimelineRowData, nowMs: number): string {
  const { kind, status, timedOut, untilMs, waitsFor } = row;
  const awaited = waitsFor !== null && (kind === 'waited' || kind === 'signaled') ? ` ${waitsFor}` : '';
  switch (status) {
    case 'Waiting':
      return `${WAITING[kind]}${awaited}`;
    case 'Queued':
      return kind === 'queued' && untilMs !== null ? 'waiting' : 'queued';
    case 'Running':
      return `running${attemptSuffix(row, 1)}`;
    case 'Retrying':
      return [...failedTimes(row), retries(row, nowMs)].join(', ');
    case 'Retried':
      return isPlain(row) ? 'failed' : [...failedTimes(row), 'then went on'].join(', ');
    case 'Cancelled':
      return 'cancelled';
    case 'Failed':
      if (timedOut) return 'timed out';
      return `${FAILED[kind] ?? 'failed'}${attemptSuffix(row)}${responded(row)}`;
    case 'Completed':
      if (timedOut) return `timed out${awaited && `, no event${awaited}`}`;
      // Only failed requests are in the history one by one.
      return `${COMPLETED[kind]}${awaited}${attemptSuffix(row, kind === 'requested' ? 1 : 0)}${responded(row)}`;
  }
}

/** @param ahead 1: the next attempt */
function attemptSuffix(row: TimelineRowData, ahead = 0): string {
  if (isPlain(row)) return '';
  const number = (row.attempts.at(-1)?.number ?? -1) + ahead;
  return number > 0 ? ` on attempt ${number + 1}` : '';
}

/** One attempt of a function without steps: the name includes its number. */
function isPlain({ stepId, attempts }: TimelineRowData): boolean {
  return stepId === null && attempts.length === 1;
}

function failedTimes({ attempts }: TimelineRowData): string[] {
  const failed = attempts.filter(({ status }) => status === 'Failed').length;
  if (failed === 0) return [];
  return [failed === 1 ? 'failed once' : `failed ${failed} times`];
}

function retries({ untilMs }: TimelineRowData, nowMs: number): string {
  return untilMs === null ? 'retries' : `retries ${relative(Math.max(0, untilMs - nowMs))}`;
}

function responded({ request }: TimelineRowData): string {
  return request?.status ? ` with status ${request.status}` : '';
}

export function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : origin;
}

/** How long the row waited for its turn before its first attempt; undefined: it did not. */
export function queueTime({ queuedMs, startedMs, attempts }: TimelineRowData): string | undefined {
  if (queuedMs === null || attempts.length === 0) return undefined;
  return startedMs > queuedMs ? duration(startedMs - queuedMs) : undefined;
}
