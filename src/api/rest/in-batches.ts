/** Executes an action on many items in one request, batch by batch, within limits of time and number, so that the audit log has one entry. */

/** Maximum number of items per batch. */
export const BATCH_MAX = 500;
/** Approximate maximum number of items per request. */
const ACTED_ON_MAX = 10_000;
/** No batch begins after this time, because proxies end requests that take much longer. */
const LAST_BATCH_MS = 10_000;

export interface Batch<Item, Cursor> {
  page: readonly Item[];
  /** Position of the next batch; absent for the last batch. */
  next?: Cursor | undefined;
}

/** @param act if it throws in the first batch, the request fails; in a later one, the request ends before that batch
 *  @returns the position from which another request continues; undefined if everything is done */
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
