/** Pages of the event list, and how live updates change them. Pure. */
import type { ListedEvent, LiveMessages, RunSummary } from '../../../api/types.ts';
import type { Stop } from '../../../lib/stop.ts';

/** An event without its payload, so that 100,000 events take only tens of megabytes. */
export type EventRow = Pick<ListedEvent, 'internal_id' | 'name' | 'received_at' | 'source' | 'duplicates' | 'gist'> & {
  runs: readonly RunSummary[];
};

export interface Page {
  rows: readonly EventRow[];
  /** Cursor of the next page; undefined: this is the last. */
  next: string | undefined;
  /** undefined: the page is complete. */
  stop?: Stop | undefined;
}

export type RunUpdate = RunSummary & { event_id: string };

export type LiveEvent = LiveMessages['events']['events'][number];

/** A list that live updates have made longer starts again with its first page. */
export const MAX_LIVE_ROWS = 20_000;

export function toRow(event: ListedEvent): EventRow {
  const { internal_id, name, received_at, source, duplicates, gist = '', runs = [] } = event;
  return { internal_id, name, received_at, source, duplicates, gist, runs };
}

/** Adds events of live updates; listed events stay unchanged. */
export function addEvents(pages: readonly Page[], events: readonly LiveEvent[]): readonly Page[] {
  const [first, ...rest] = pages;
  if (!first) return pages;
  const oldest = first.rows.at(-1);
  const listed = new Set(first.rows.map(({ internal_id }) => internal_id));
  const added = events
    .filter(({ internal_id }) => !listed.has(internal_id))
    .map((event): EventRow => ({ ...event, duplicates: 0, runs: [] }))
    .filter((row) => !oldest || rest.length === 0 || newestFirst(row, oldest) < 0);
  return added.length === 0 ? pages : [{ ...first, rows: [...added, ...first.rows].sort(newestFirst) }, ...rest];
}

/** @param top the refetched first page; if it does not overlap the current one, the list restarts with it */
export function mergeFirstPage(pages: readonly Page[], top: Page): readonly Page[] {
  const [first, ...rest] = pages;
  const fresh = new Map(top.rows.map((row) => [row.internal_id, row]));
  const overlaps = first?.rows.some(({ internal_id }) => fresh.has(internal_id)) ?? false;
  const count = pages.reduce((sum, { rows }) => sum + rows.length, 0);
  if (!first || !overlaps || count > MAX_LIVE_ROWS) return [top];
  const others = first.rows.filter(({ internal_id }) => !fresh.has(internal_id));
  return [{ ...first, rows: [...top.rows, ...others].sort(newestFirst) }, ...rest];
}

export function applyRunUpdates(pages: readonly Page[], runs: readonly RunUpdate[]): readonly Page[] {
  const byEvent = Map.groupBy(runs, ({ event_id }) => event_id);
  const patched = (row: EventRow): EventRow => {
    const updates = byEvent.get(row.internal_id);
    if (!updates) return row;
    const runsById = new Map(row.runs.map((run) => [run.run_id, run]));
    for (const { run_id, function_id, status } of updates) runsById.set(run_id, { run_id, function_id, status });
    return { ...row, runs: [...runsById.values()] };
  };
  return pages.map((page) =>
    page.rows.some(({ internal_id }) => byEvent.has(internal_id)) ? { ...page, rows: page.rows.map(patched) } : page,
  );
}

function newestFirst(a: EventRow, b: EventRow): number {
  return compare(b.received_at, a.received_at) || compare(b.internal_id, a.internal_id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
