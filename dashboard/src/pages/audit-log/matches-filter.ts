import type { AuditEntry } from '../../api/types.ts';

export interface Filter {
  /** Words that must all occur in an entry. */
  q?: string | undefined;
  who?: AuditEntry['who']['kind'] | undefined;
}

export function matchesFilter(entry: AuditEntry, { q = '', who }: Filter): boolean {
  if (who !== undefined && entry.who.kind !== who) return false;
  const { who: by, action, target, environment, summary, ip, request_id } = entry;
  const text = [by.name, by.id, action, target, environment, summary, ip, request_id].join(' ').toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
