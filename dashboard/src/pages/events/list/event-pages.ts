/** The list of events as it is held: pages as they were read, and what is done to them as news come in. Pure. */
import type { ListedEvent, RunSummary } from '../../../api/types.ts';

/** An event without its payload: 100,000 of them stay some tens of megabytes. */
export type EventRow = Pick<ListedEvent, 'internal_id' | 'name' | 'received_at' | 'source' | 'duplicates'> & {
  runs: readonly RunSummary[];
};

export interface Page {
  rows: readonly EventRow[];
  /** Cursor of the page after it; undefined: it is the last. */
  next: string | undefined;
}

export type RunUpdate = RunSummary & { event_id: string };

/** While new ones come in at the top, no more rows than these are kept below them. */
const MAX_LIVE_ROWS = 1_000;

export function toRow(event: ListedEvent): EventRow {
  const { internal_id, name, received_at, source, duplicates, runs = [] } = event;
  return { internal_id, name, received_at, source, duplicates, runs };
}

/** @param top the first page, read anew; when it does not reach what is held, the list begins anew with it */
export function mergeFirstPage(pages: readonly Page[], top: Page): readonly Page[] {
  const [first, ...rest] = pages;
  const now = new Map(top.rows.map((row) => [row.internal_id, row]));
  const meets = first?.rows.some(({ internal_id }) => now.has(internal_id)) ?? false;
  const held = pages.reduce((sum, { rows }) => sum + rows.length, 0);
  if (!first || !meets || held > MAX_LIVE_ROWS) return [top];
  const others = first.rows.filter(({ internal_id }) => !now.has(internal_id));
  return [{ ...first, rows: [...top.rows, ...others].sort(newestFirst) }, ...rest];
}

export function applyRunUpdates(pages: readonly Page[], runs: readonly RunUpdate[]): readonly Page[] {
  const byEvent = Map.groupBy(runs, ({ event_id }) => event_id);
  const patched = (row: EventRow): EventRow => {
    const news = byEvent.get(row.internal_id);
    if (!news) return row;
    const told = new Map(row.runs.map((run) => [run.run_id, run]));
    for (const { run_id, function_id, status } of news) told.set(run_id, { run_id, function_id, status });
    return { ...row, runs: [...told.values()] };
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
