/** History entries as Redis and the archive have them: lists, because names of fields and whole times were two thirds of an entry. */
import type { Pending } from '../../model/runs/memo.ts';
import type { HistoryEntry } from '../../model/runs/run.ts';
import { linksOfRequest } from '../../model/runs/step-links.ts';
import { HISTORY_KINDS as KINDS, HISTORY_STATUSES as STATUSES } from '../keys/run-fields.ts';

/** The beginning of an entry; the other fields, if any, follow as an object. Times are milliseconds; absent times at the end are left out. */
type Listed = [
  /** Index of its kind, times the number of statuses, plus the index of its status. */
  kindAndStatus: number,
  startedAt: number,
  /** Time from `startedAt` to `endedAt`. */
  tookMs: number,
  /** Time from `queuedAt` to `startedAt`. */
  queuedMs?: number | null,
  attempt?: number | null,
  stepId?: string | null,
  name?: string | null,
  op?: string | null,
  rest?: Partial<HistoryEntry>,
];

/** A step that was pending when its run ended, as end-run.lua writes it. */
interface LeftOverStep {
  stepId: string;
  endedAt: number;
  pending: Pending;
}

export function encodeHistoryEntry(entry: HistoryEntry): string {
  const { kind, status, startedAt, endedAt, queuedAt, attempt, stepId, name, op, ...rest } = entry;
  const listed: unknown[] = [
    KINDS.indexOf(kind) * STATUSES.length + STATUSES.indexOf(status),
    startedAt,
    endedAt - startedAt,
    queuedAt === undefined ? null : startedAt - queuedAt,
    attempt,
    stepId,
    name,
    op,
  ];
  if (Object.values(rest).some((value) => value !== undefined)) listed.push(rest);
  else listed.length = listed.findLastIndex((value) => value !== null && value !== undefined) + 1;
  return JSON.stringify(listed);
}

/** Earlier versions wrote entries as objects. */
export function decodeHistoryEntry(text: string): HistoryEntry {
  const stored = JSON.parse(text) as Listed | HistoryEntry | LeftOverStep;
  if (Array.isArray(stored)) return entryOf(stored);
  return 'pending' in stored ? leftOverEntry(stored) : stored;
}

function entryOf([kindAndStatus, startedAt, tookMs, queuedMs, attempt, stepId, name, op, rest]: Listed): HistoryEntry {
  return {
    kind: KINDS[Math.floor(kindAndStatus / STATUSES.length)] as HistoryEntry['kind'],
    ...(isGiven(stepId) && { stepId }),
    ...(isGiven(name) && { name }),
    ...(isGiven(op) && { op }),
    ...(isGiven(attempt) && { attempt }),
    status: STATUSES[kindAndStatus % STATUSES.length] as HistoryEntry['status'],
    ...(isGiven(queuedMs) && { queuedAt: startedAt - queuedMs }),
    startedAt,
    endedAt: startedAt + tookMs,
    ...rest,
  };
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}

function leftOverEntry({
  stepId,
  endedAt,
  pending: { since, race: _, origin, method, ...step },
}: LeftOverStep): HistoryEntry {
  const links = linksOfRequest({ origin, method });
  return { kind: 'step', stepId, ...step, ...links, status: 'Cancelled', startedAt: since, endedAt };
}
