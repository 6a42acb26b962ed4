/** The form of a new replay, and the request that it makes. Pure. */
import { DAY_MS } from '../../lib/time-units.ts';
import { isRate } from '../../ui/bulk-operations/operation.ts';
import type { FormerStatus } from './texts.ts';

/** From the URL: the filter of another page. Times are ISO 8601. */
export interface Given {
  name?: string | undefined;
  source?: string | undefined;
  q?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  /** Internal IDs of the selected events, separated by commas. */
  ids?: string | undefined;
}

export interface Form {
  /** IDs of the events; undefined: events of the filter. */
  ids: readonly string[] | undefined;
  title: string;
  name: string;
  source: string;
  search: string | undefined;
  from: string | undefined;
  to: string | undefined;
  /** undefined: all that match now. */
  functions: readonly string[] | undefined;
  statuses: readonly FormerStatus[];
  rate: number;
}

export const RATE_MAX = 1_000;
const RATE_DEFAULT = 50;

export function formOf({ name = '', source = '', q, from, to, ids }: Given, nowMs: number): Form {
  return {
    ids: ids?.split(',').filter((id) => id !== ''),
    title: '',
    name,
    source,
    search: q,
    from: from ?? new Date(nowMs - DAY_MS).toISOString(),
    to: to ?? new Date(nowMs).toISOString(),
    functions: undefined,
    statuses: ['Failed'],
    rate: RATE_DEFAULT,
  };
}

/** Name of the missing input; undefined: the form is complete. */
export function missingIn({ from, to, functions, statuses, rate }: Form): string | undefined {
  if (from === undefined || to === undefined) return 'Select a time range.';
  if (functions?.length === 0) return 'Select a function.';
  if (statuses.length === 0) return 'Select how the former run ended.';
  if (!isRate(rate, RATE_MAX)) return `The rate is from 1 to ${RATE_MAX}.`;
  return undefined;
}

export function bodyOf({ ids, title, name, source, search, from, to, functions, statuses, rate }: Form) {
  const filter = ids ? { ids } : { name: name.trim() || null, source: source || null, search: search ?? null };
  return {
    name: title.trim() || null,
    filter,
    received_after: from,
    received_before: to,
    functions: functions ?? null,
    statuses,
    rate,
  };
}

/** Identifies everything that a dry run depends on. */
export function selectionKeyOf(form: Form): string {
  const { name: _, rate: __, ...selection } = bodyOf(form);
  return JSON.stringify(selection);
}
