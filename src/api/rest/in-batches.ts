/** Executes an action on many items in one request, batch by batch, within limits of time and number, so that the audit log has one entry. */

/** Per batch. */
export const BATCH_MAX = 500;
/** Per request, about. */
const ACTED_ON_MAX = 10_000;
/** After this long no further batch begins: proxies end requests that take much longer. */
const LAST_BATCH_MS = 10_000;

export interface Batch<Item, Cursor> {
  page: readonly Item[];
  /** Where the next batch begins; absent: this is the last one. */
  next?: Cursor | undefined;
}

/** @param act throws: in the first batch the request fails; later it ends before that batch, and says where the next request goes on
 *  @returns where that is; undefined: all is done */
export async function inBatches<Item, Cursor>(
  from: Cursor | undefined,
  find: (cursor: Cursor | undefined) => Promise<Batch<Item, Cursor>>,
  act: (page: readonly Item[]) => Promise<unknown>,
): Promise<Cursor | undefined> {
  const startedAt = performance.now();
  let cursor = from;
  for (let count = 0; ; ) {
    const { page, next } = await find(cursor);
    try {
      await act(page);
    } catch (error) {
      if (count === 0) throw error;
      return cursor;
    }
    count += page.length;
    if (next === undefined || count >= ACTED_ON_MAX || performance.now() - startedAt > LAST_BATCH_MS) return next;
    cursor = next;
  }
}
