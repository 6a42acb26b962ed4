/** What the list of events is narrowed by, as it stands in the address. */
import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Query } from '../../api/client.ts';

export interface Filters {
  name?: string | undefined;
  /** Exact, or all of a kind: `webhook`, `event-key`. */
  source?: string | undefined;
  /** Internal ID, or the sender's own. */
  id?: string | undefined;
  /** ISO time, or how long ago: `15m`, `6h`, `7d`. */
  from?: string | undefined;
  to?: string | undefined;
  paused?: true;
}

export function useFilters(): Filters {
  return useSearch({ from: '/events' });
}

const RELATIVE_TIME = /^(\d{1,4})([mhd])$/;
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** @returns Unix milliseconds; undefined: no such bound, or none that can be read */
export function parseTime(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = RELATIVE_TIME.exec(text) ?? [];
  if (count) return now - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

export interface TimeRange {
  after: number | undefined;
  before: number | undefined;
}

/** The times that the filters mean; one that is counted from now stays put until it is chosen anew. */
export function useTimeRange({ from, to }: Filters): TimeRange {
  return useMemo(() => {
    const now = Date.now();
    return { after: parseTime(from, now), before: parseTime(to, now) };
  }, [from, to]);
}

/** The same object for as long as it says the same. */
export function useListQuery({ name, source, id }: Filters, { after, before }: TimeRange): Query {
  return useMemo(
    () => ({ name, source, id, received_after: after, received_before: before }),
    [name, source, id, after, before],
  );
}

export function hasFilters({ name, source, id, from, to }: Filters): boolean {
  return [name, source, id, from, to].some((one) => one !== undefined);
}

/** Whether an event of the stream belongs to what is listed, as far as the stream tells. */
export function matchesFilters({ name, source }: Filters, event: { name: string; source: string }): boolean {
  return (
    (name === undefined || event.name === name) &&
    (source === undefined || event.source === source || event.source.startsWith(`${source}:`))
  );
}
