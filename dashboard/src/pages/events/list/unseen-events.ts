/** New events that are counted rather than shown. Those whose IDs are known are told from such as are listed already. Pure. */
import type { EventRow } from './event-pages.ts';

export interface Waiting {
  /** The last that came, oldest first. */
  ids: readonly string[];
  /** How many more. */
  others: number;
}

export const NONE: Waiting = { ids: [], others: 0 };

/** A list that was being read as they came may yet show them; one that is read later than so many will not. */
const MOST_IDS = 1_000;

/** @returns both; the latter came later */
export function together(some: Waiting, more: Waiting): Waiting {
  const ids = [...some.ids, ...more.ids];
  const forgotten = Math.max(0, ids.length - MOST_IDS);
  return { ids: ids.slice(forgotten), others: some.others + more.others + forgotten };
}

/** @returns how many of them are not among the rows */
export function countBeside(rows: readonly EventRow[], { ids, others }: Waiting): number {
  if (ids.length === 0) return others;
  const missing = new Set(ids);
  for (const { internal_id } of rows) missing.delete(internal_id);
  return missing.size + others;
}
