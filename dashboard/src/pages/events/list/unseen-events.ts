/** New events that are counted instead of shown. Known IDs are compared with the listed ones. Pure. */
import type { EventRow } from './event-pages.ts';

export interface UnseenEvents {
  /** IDs of the latest, oldest first. */
  ids: readonly string[];
  /** Number of further events, without IDs. */
  others: number;
}

export const NONE: UnseenEvents = { ids: [], others: 0 };

/** Events that arrived while the list was loading may be in it; older ones than this are not. */
const MAX_IDS = 1_000;

/** @param more events that arrived after `some` */
export function mergeUnseen(some: UnseenEvents, more: UnseenEvents): UnseenEvents {
  const ids = [...some.ids, ...more.ids];
  const dropped = Math.max(0, ids.length - MAX_IDS);
  return { ids: ids.slice(dropped), others: some.others + more.others + dropped };
}

/** @returns the number of events that are not among the rows */
export function countUnseen(rows: readonly EventRow[], { ids, others }: UnseenEvents): number {
  if (ids.length === 0) return others;
  const missing = new Set(ids);
  for (const { internal_id } of rows) missing.delete(internal_id);
  return missing.size + others;
}
