/** Audit entries as CSV (RFC 4180), for spreadsheets. */
import type { AuditEntry } from '../../api/types.ts';

const COLUMNS: [name: string, value: (entry: AuditEntry) => string | null][] = [
  ['at', ({ at }) => at],
  ['actor_kind', ({ who }) => who.kind],
  ['actor', ({ who }) => who.name],
  ['action', ({ action }) => action],
  ['target', ({ target }) => target],
  ['target_name', ({ target_name }) => target_name],
  ['environment', ({ environment }) => environment],
  ['summary', ({ summary }) => summary],
  ['ip', ({ ip }) => ip],
  ['request_id', ({ request_id }) => request_id],
];

export function csvOf(entries: readonly AuditEntry[]): string {
  const rows = entries.map((entry) => COLUMNS.map(([, value]) => cell(value(entry) ?? '')).join(','));
  return [COLUMNS.map(([name]) => name).join(','), ...rows, ''].join('\r\n');
}

/** A spreadsheet would run a text that begins like a formula. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
