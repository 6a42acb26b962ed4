/** New rows of a list that are counted instead of shown, so that no row moves under the reader. Known IDs are compared with the listed ones. Pure. */

export interface Unseen {
  /** IDs of the latest, oldest first. */
  ids: readonly string[];
  /** Number of further rows, without IDs. */
  others: number;
  /** There may be more: live updates did not report all changes. */
  more: boolean;
}

export const NONE: Unseen = { ids: [], others: 0, more: false };

/** Rows that arrived while the list was loading may be in it; rows older than this are not. */
const MAX_IDS = 1_000;

/** @param more rows that arrived after `some` */
export function mergeUnseen(some: Unseen, more: Unseen): Unseen {
  const ids = [...some.ids, ...more.ids];
  const dropped = Math.max(0, ids.length - MAX_IDS);
  return { ids: ids.slice(dropped), others: some.others + more.others + dropped, more: some.more || more.more };
}

/** @param listed IDs of the rows
 *  @returns the number of new rows that are not among them */
export function countUnseen(listed: readonly string[], { ids, others }: Unseen): number {
  if (ids.length === 0) return others;
  const missing = new Set(ids);
  for (const id of listed) missing.delete(id);
  return missing.size + others;
}

export function hasUnseen({ ids, others, more }: Unseen): boolean {
  return ids.length > 0 || others > 0 || more;
}
