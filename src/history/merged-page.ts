/** One page of a list that is partly in Redis and partly in the archive, newest first by time and ID. */
import type { Archive } from '../archive/archive.ts';
import { END_OF_TIME } from '../archive/day-batches.ts';
import { FIRST_ID } from '../archive/event-pages.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { isOlder, type Position, type TimeRange } from '../store/redis/pagination.ts';

/** Why a list may be incomplete. */
export const STOPPED_EARLY = ['archive_unavailable', 'time'] as const;
export type StoppedEarly = (typeof STOPPED_EARLY)[number];

export interface MaybeIncomplete {
  stoppedEarly?: StoppedEarly | undefined;
}

export interface Page<T> extends MaybeIncomplete {
  items: readonly T[];
  /** How far entries were examined: more may follow, even if the page is short. undefined at the end. */
  next: Position | undefined;
}

export interface PageRequest<T> {
  timeRange: TimeRange;
  limit: number;
  positionOf(item: T): Position;
  /** Reads the hot part. */
  hot(): Promise<Page<T>>;
  /** Reads the archived part of this time range. */
  archived(timeRange: TimeRange): Promise<Page<T>>;
}

/** Greater than any clock difference; with a short HOT_HOURS, all processes are on one machine. */
const SKEW_MS = 60_000;

/** Everything archived is older than this. */
export function archiveBorder({ hotMs }: Pick<Archive, 'hotMs'>, nowMs: number): number {
  return nowMs - hotMs + Math.min(SKEW_MS, hotMs / 2);
}

/** The next page. Asks the archive only if it may have part of it. While the archive is down, the page is the hot part.
 *  @param border everything archived is older */
export async function mergedPage<T>(
  { timeRange, limit, positionOf, hot: readHot, archived: readArchived }: PageRequest<T>,
  border: number,
): Promise<Page<T>> {
  // Redis is read first, because data is archived before it leaves Redis.
  const hot = await readHot();
  const after = Math.max(hot.next?.at ?? 0, timeRange.after ?? 0);
  if (after >= border) return hot;
  let archived: Page<T>;
  try {
    archived = await readArchived({ ...timeRange, after });
  } catch (error) {
    if (!isArchiveUnavailable(error)) throw error;
    const last = hot.items.at(-1);
    const next = hot.next ?? (last === undefined ? startOf(timeRange) : positionOf(last));
    return { items: hot.items, next, stoppedEarly: 'archive_unavailable' };
  }
  return merge([hot, archived], limit, positionOf);
}

/** The position before the first entry of a list. */
export function startOf({ before = END_OF_TIME, cursor }: TimeRange): Position {
  return cursor ?? { at: before, id: FIRST_ID };
}

/** @param parts for items in several parts, the first part wins */
function merge<T>(parts: readonly Page<T>[], limit: number, positionOf: (item: T) => Position): Page<T> {
  // Items beyond the end of one part are left out: the parts might have items in between.
  const end = parts.map(({ next }) => next).reduce((a, b) => (a && b ? (isOlder(a, b) ? b : a) : (a ?? b)), undefined);
  const byId = new Map<string, { position: Position; item: T }>();
  for (const item of parts.flatMap(({ items }) => items)) {
    const position = positionOf(item);
    if (!byId.has(position.id) && !(end && isOlder(position, end))) byId.set(position.id, { position, item });
  }
  const sorted = [...byId.values()].sort((a, b) => (isOlder(a.position, b.position) ? 1 : -1));
  const page = sorted.slice(0, limit);
  const isCut = sorted.length > limit || (end !== undefined && page.length === limit);
  return {
    items: page.map(({ item }) => item),
    next: isCut ? page.at(-1)?.position : end,
    stoppedEarly: parts.find(({ stoppedEarly }) => stoppedEarly)?.stoppedEarly,
  };
}
