import type { AuditEntry } from '../../api/types.ts';
import { parseTime } from '../../lib/time-filter.ts';

export interface Filter {
  /** Words that must all occur in an entry. */
  q?: string | undefined;
  who?: AuditEntry['who']['kind'] | undefined;
  /** As in lib/time-filter.ts. */
  from?: string | undefined;
  to?: string | undefined;
}

/** Whether no entry before this one can match: the log is read newest first. */
export function isBefore(entry: Pick<AuditEntry, 'at'> | undefined, { from }: Filter, nowMs: number): boolean {
  const fromMs = parseTime(from, nowMs);
  return entry !== undefined && fromMs !== undefined && Date.parse(entry.at) < fromMs;
}

export function matchesFilter(entry: AuditEntry, { q = '', who, from, to }: Filter, nowMs: number): boolean {
  const atMs = Date.parse(entry.at);
  if (atMs < (parseTime(from, nowMs) ?? 0) || atMs >= (parseTime(to, nowMs) ?? Number.POSITIVE_INFINITY)) return false;
  if (who !== undefined && entry.who.kind !== who) return false;
  const { who: by, action, target, target_name, environment, summary, ip, request_id } = entry;
  const text = [by.name, by.id, action, target, target_name, environment, summary, ip, request_id]
    .join(' ')
    .toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
