/** Filters of the event list, kept in the URL. */
import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Query } from '../../api/client.ts';
import { isExpression } from '../../lib/is-expression.ts';
import { parseTime } from '../../lib/time-filter.ts';

export interface Filters {
  /** An expression, or a text to look for. */
  q?: string | undefined;
  name?: string | undefined;
  /** A source, or a kind of source: `webhook`, `event-key`. */
  source?: string | undefined;
  /** Internal ID or deduplication ID. */
  id?: string | undefined;
  /** ISO 8601, or relative to now: `15m`, `6h`, `7d`. */
  from?: string | undefined;
  to?: string | undefined;
  paused?: true;
  /** Also the events of the service itself: of schedules and failures. */
  all?: true | undefined;
}

/** The service's own events hide what was sent, unless somebody asks for them. */
export function withDefaultSource(filters: Filters): Filters {
  const { source, name, id, all } = filters;
  const isOpen = source === undefined && name === undefined && id === undefined && !all;
  return isOpen ? { ...filters, source: NOT_SYSTEM } : filters;
}

const NOT = '!';
export const NOT_SYSTEM = `${NOT}service`;

export function useFilters(): Filters {
  return useSearch({ from: '/events' });
}

export interface TimeRange {
  after: number | undefined;
  before: number | undefined;
}

/** A relative time is resolved once, when it is selected. */
export function useTimeRange({ from, to }: Filters): TimeRange {
  return useMemo(() => {
    const now = Date.now();
    return { after: parseTime(from, now), before: parseTime(to, now) };
  }, [from, to]);
}

/** Stable identity while its values do not change. */
export function useListQuery({ q, name, source, id }: Filters, { after, before }: TimeRange): Query {
  return useMemo(
    () => ({ search: expressionIn(q), name, source, id, received_after: after, received_before: before }),
    [q, name, source, id, after, before],
  );
}

/** undefined: the search box has a plain text or is empty. */
function expressionIn(q: string | undefined): string | undefined {
  return q !== undefined && isExpression(q) ? q : undefined;
}

export function hasFilters({ q, name, source, id, from, to }: Filters): boolean {
  return [q, name, source, id, from, to].some((one) => one !== undefined);
}

/** Whether an event of the live stream matches, as far as its message shows. */
export function matchesFilters({ name, source }: Filters, event: { name: string; source: string }): boolean {
  return (
    (name === undefined || event.name === name || isWildcardFor(name, event.name)) &&
    (source === undefined || isFrom(event.source, source))
  );
}

/** As the API filters. */
function isFrom(source: string, filter: string): boolean {
  if (filter.startsWith(NOT)) return !isFrom(source, filter.slice(NOT.length));
  return source === filter || source.startsWith(`${filter}:`);
}

/** `order/*` */
function isWildcardFor(wildcard: string, name: string): boolean {
  return wildcard.endsWith('*') && name.startsWith(wildcard.slice(0, -1));
}
