/** New events that are counted rather than shown. Those whose IDs are known are told from such as are listed already. Pure. */
import type { EventRow } from './event-pages.ts';

export interface UnseenEvents {
  /** The last that came, oldest first. */
  ids: readonly string[];
  /** How many more. */
  others: number;
}

export const NONE: UnseenEvents = { ids: [], others: 0 };

/** A list that was being read as they came may yet show them; one that is read later than so many will not. */
const MAX_IDS = 1_000;

/** @returns both; the latter came later */
export function mergeUnseen(some: UnseenEvents, more: UnseenEvents): UnseenEvents {
  const ids = [...some.ids, ...more.ids];
  const forgotten = Math.max(0, ids.length - MAX_IDS);
  return { ids: ids.slice(forgotten), others: some.others + more.others + forgotten };
}

/** @returns how many of them are not among the rows */
export function countUnseen(rows: readonly EventRow[], { ids, others }: UnseenEvents): number {
  if (ids.length === 0) return others;
  const missing = new Set(ids);
  for (const { internal_id } of rows) missing.delete(internal_id);
  return missing.size + others;
}
