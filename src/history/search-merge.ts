/** Examines hot and archived entries, newest first, and merges the results. The archive is never read further back than Redis, so an entry that
 *  moves meanwhile is found in one of the two. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FIRST_ID } from '../archive/event-pages.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { HOUR_MS } from '../model/values/time.ts';
import { isOlder, newestFirst, type Position, type TimeRange } from '../store/redis/pagination.ts';
import type { StoppedEarly } from './merged-page.ts';

export interface SearchPage<T> {
  found: T[];
  /** Cursor to continue the search; undefined if everything was examined. */
  next: Position | undefined;
  /** Set if the page is not full although more may follow. */
  stoppedEarly?: StoppedEarly | undefined;
}

/** Results of a source in the next part of its entries. */
export interface Portion<T> {
  found: T[];
  /** Everything before this position was examined; undefined at the end. */
  next: Position | undefined;
}

export interface SearchSource<T> {
  /** Examines the next entries: at least one, however little time is left. */
  read(timeRange: TimeRange, timeLeftMs: number): Promise<Portion<T>>;
}

export interface MergedSearch<T> {
  hot: SearchSource<T>;
  /** undefined without an archive. */
  archive: SearchSource<T> | undefined;
  positionOf(item: T): Position;
  /** Approximate bytes. */
  sizeOf(item: T): number;
  timeRange: TimeRange;
  limit: number;
  /** Entries newer than this time are not archived; Unix milliseconds. */
  archiveBorder: number;
  timeoutMs: number;
}

const LATEST: Position = { at: Number.MAX_SAFE_INTEGER, id: 'Z' };
/** Size of a page: web serializes it on its only thread. */
const PAGE_BYTES = 2 * 1_048_576;
/** The archive is read when hot entries have been examined this far back. */
const AHEAD_MS = HOUR_MS;

interface Progress<T> {
  source: SearchSource<T>;
  /** undefined: at its end. */
  at: Position | undefined;
}

export async function mergedSearch<T>(search: MergedSearch<T>): Promise<SearchPage<T>> {
  const { timeRange, limit, archiveBorder, timeoutMs, positionOf, sizeOf } = search;
  const deadline = performance.now() + timeoutMs;
  const start = timeRange.cursor ?? LATEST;
  const hot: Progress<T> = { source: search.hot, at: start };
  const archive: Progress<T> | undefined = search.archive && {
    source: search.archive,
    at: olderOf(start, { at: archiveBorder, id: FIRST_ID }),
  };
  const found = new Map<string, T>();
  let bytes = 0;
  for (;;) {
    const reached = newerOf(hot.at, archive?.at);
    const passed = newestFirst(
      [...found.values()].map(positionOf).filter((position) => !reached || !isOlder(position, reached)),
    );
    const isFull = passed.length >= limit || bytes >= PAGE_BYTES;
    if (!reached || (isFull && passed.length > 0)) {
      const page = passed.slice(0, limit);
      const isLast = !reached && page.length === passed.length;
      return { found: pick(found, page), next: isLast ? undefined : page.at(-1) };
    }
    const stop = (stoppedEarly: StoppedEarly) => {
      return { found: pick(found, passed), next: reached, stoppedEarly };
    };
    const timeLeftMs = deadline - performance.now();
    if (timeLeftMs <= 0 && isOlder(reached, start)) return stop('time');
    const isHotNext =
      hot.at && (!archive?.at || !isAhead(hot.at, archive.at, found.size >= limit || bytes >= PAGE_BYTES));
    const next = isHotNext ? hot : (archive as Progress<T>);
    try {
      const range = isHotNext ? timeRange : { ...timeRange, after: laterOf(timeRange.after, hot.at && hot.at.at + 1) };
      const portion = await next.source.read(
        { ...range, cursor: next.at === LATEST ? undefined : next.at },
        timeLeftMs,
      );
      for (const item of portion.found) {
        const { id } = positionOf(item);
        // The hot version is newer than its archived copy.
        if (found.has(id)) continue;
        found.set(id, item);
        bytes += sizeOf(item);
      }
      next.at = portion.next ?? (isHotNext || !hot.at ? undefined : { at: hot.at.at + 1, id: FIRST_ID });
    } catch (error) {
      if (isHotNext || !isArchiveUnavailable(error)) throw error;
      return stop('archive_unavailable');
    }
    await nextTurn();
  }
}

/** Whether it is the archive's turn. */
function isAhead(hot: Position, archive: Position, isEnough: boolean): boolean {
  return archive.at - hot.at > (isEnough ? 1 : AHEAD_MS);
}

function pick<T>(found: ReadonlyMap<string, T>, positions: readonly Position[]): T[] {
  return positions.map(({ id }) => found.get(id) as T);
}

function newerOf(a: Position | undefined, b: Position | undefined): Position | undefined {
  if (!a || !b) return a ?? b;
  return isOlder(a, b) ? b : a;
}

function olderOf(a: Position, b: Position): Position {
  return isOlder(a, b) ? a : b;
}

function laterOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
