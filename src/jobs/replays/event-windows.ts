/** Reads past events from oldest to newest, a few at a time. Lists begin with the newest event, so each read covers a time range that fits into
 *  one page: a quarter of the range if it has too many events, a longer range if it has few. */
import type { ReplayPosition } from '../../model/replays/replay.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { FoundEvent } from '../../store/events/events.ts';
import type { Position } from '../../store/redis/pagination.ts';
import type { EventSource } from './event-source.ts';

const SHORTER = 4;
const LONGER = 4;
const LONGEST_MS = 30 * DAY_MS;
/** Page size when one millisecond has several pages. */
const MILLISECOND_LIMIT = 200;
/** Length of the first time range. */
export const FIRST_WINDOW_MS = 60_000;

export interface WindowRequest {
  position: ReplayPosition;
  /** End of the time range, exclusive. */
  before: number;
  windowMs: number;
  limit: number;
}

export interface Window {
  /** Oldest first. */
  events: FoundEvent[];
  /** The position after all of these. */
  next: ReplayPosition;
  windowMs: number;
}

export async function readWindow(
  { position, before, windowMs, limit }: WindowRequest,
  source: EventSource,
): Promise<Window> {
  const page = (after: number, to: number, cursor?: Position, most = limit) =>
    source({ after, before: to, cursor }, most);
  for (let length = windowMs; ; length = Math.max(1, Math.floor(length / SHORTER))) {
    const to = Math.min(position.at + length, before);
    const { events, next } = await page(position.at, to);
    if (!next) {
      const isSparse = length === windowMs && events.length < limit / SHORTER;
      return {
        events: events.reverse().filter(isAfter(position)),
        next: { at: to },
        windowMs: isSparse ? Math.min(length * LONGER, LONGEST_MS) : length,
      };
    }
    if (to - position.at > 1) continue;
    // One millisecond has more events than a page: its pages are read down to the oldest event.
    const rest = await oldestOf(events, next, limit, position, (cursor) =>
      page(position.at, to, cursor, Math.max(limit, MILLISECOND_LIMIT)),
    );
    const last = rest.events.at(-1);
    return {
      events: rest.events,
      next: rest.isAll || !last ? { at: to } : { at: position.at, id: last.internal_id },
      windowMs: 1,
    };
  }
}

/** The oldest events after the position, oldest first. */
async function oldestOf(
  first: readonly FoundEvent[],
  next: Position,
  limit: number,
  position: ReplayPosition,
  page: (cursor: Position) => Promise<{ events: FoundEvent[]; next: Position | undefined }>,
): Promise<{ events: FoundEvent[]; isAll: boolean }> {
  const after = isAfter(position);
  let oldest = first.filter(after);
  let count = oldest.length;
  for (let cursor: Position | undefined = next; cursor && !isDone(cursor, position); ) {
    const read: Awaited<ReturnType<typeof page>> = await page(cursor);
    const found = read.events.filter(after);
    count += found.length;
    oldest = [...oldest, ...found].slice(-limit);
    cursor = read.next;
  }
  return { events: oldest.reverse(), isAll: count === oldest.length };
}

/** Whether the event is before the position. */
function isDone({ at, id }: Position, position: ReplayPosition): boolean {
  return at < position.at || (at === position.at && position.id !== undefined && id < position.id);
}

/** Includes the position's own event while functions of it are left. */
function isAfter({ at, id, functionId }: ReplayPosition): (event: FoundEvent) => boolean {
  return ({ received_at, internal_id }) =>
    received_at > at || id === undefined || internal_id > id || (internal_id === id && functionId !== undefined);
}
