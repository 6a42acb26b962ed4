/** Merges sorted sets of IDs by time into one list, newest first, by time and then by ID. A page ends with a cursor, so entries that are
 *  added meanwhile do not shift later pages. */
import { inPipelines, type Redis, type ScriptedRedis } from './connection/connection.ts';

/** Position of an entry in a list. */
export interface Position {
  /** Unix milliseconds. */
  at: number;
  id: string;
}

export interface TimeRange {
  /** Unix milliseconds, inclusive. */
  after?: number | undefined;
  /** Unix milliseconds, exclusive. */
  before?: number | undefined;
  /** The last entry of the previous page. */
  cursor?: Position | undefined;
}

/** The next `limit` entries of all sets, read atomically: an entry that moves from one set to another is seen once. */
export async function newestAtOnce(
  redis: ScriptedRedis,
  keys: readonly string[],
  { after = 0, before, cursor }: TimeRange,
  limit: number,
): Promise<Position[]> {
  if (keys.length === 0) return [];
  const top = cursor?.at ?? topOf(before);
  const args = JSON.stringify({ limit, after, top, cursorAt: cursor?.at, cursorId: cursor?.id });
  return toPositions((await redis.newestAtOnce(keys.length, ...keys, args)) as (string | number)[]);
}

/** Like `newestAtOnce`, for sets whose entries do not move: reads a few entries of each set, then more entries of sets that have more. */
export async function newest(
  redis: Redis,
  keys: readonly string[],
  timeRange: TimeRange,
  limit: number,
): Promise<Position[]> {
  const few = Math.min(limit, Math.max(2, Math.ceil((2 * limit) / keys.length)));
  const first = await readEach(
    redis,
    keys.map((key) => ({ key, timeRange })),
    few,
  );
  const last = newestFirst(first.flatMap(({ found }) => found))[limit - 1];
  const rest = await readEach(
    redis,
    first.flatMap(({ key, found, isFull }) => {
      const end = found.at(-1);
      return isFull && end && (!last || isOlder(last, end)) ? [{ key, timeRange: { ...timeRange, cursor: end } }] : [];
    }),
    limit,
  );
  return newestFirst([...first, ...rest].flatMap(({ found }) => found)).slice(0, limit);
}

/** The next `limit` entries of several disjoint lists: reads a few of each, then more of the lists that have more.
 *  @param lists read the next entries after a cursor, newest first */
export async function mergeNewest(
  lists: readonly ((limit: number, cursor: Position | undefined) => Promise<Position[]>)[],
  cursor: Position | undefined,
  limit: number,
): Promise<Position[]> {
  const [only] = lists;
  if (only && lists.length === 1) return only(limit, cursor);
  const few = Math.min(limit, Math.max(2, Math.ceil((2 * limit) / lists.length)));
  const first = await Promise.all(lists.map((list) => list(few, cursor)));
  const last = newestFirst(first.flat())[limit - 1];
  const rest = await Promise.all(
    first.map((found, i) => {
      const end = found.at(-1);
      const isNeeded = found.length === few && few < limit && end && (!last || isOlder(last, end));
      return isNeeded ? (lists[i] as (typeof lists)[0])(limit, end) : [];
    }),
  );
  return newestFirst([...first, ...rest].flat()).slice(0, limit);
}

/** The next entries of each set, at least `limit` if it has that many; `isFull`: there may be more. */
async function readEach(redis: Redis, ranges: readonly { key: string; timeRange: TimeRange }[], limit: number) {
  const commands = ranges.map(({ key, timeRange }) => commandsFor(key, timeRange, limit));
  const lists = (await inPipelines<string[]>(redis, commands.flat())).map(toPositions);
  return ranges.map(({ key, timeRange }, i) => {
    const ofKey = lists.splice(0, (commands[i] as unknown[]).length);
    return { key, found: older(ofKey.flat(), timeRange), isFull: ofKey.at(-1)?.length === limit };
  });
}

/** After a cursor, reads all entries of the cursor's millisecond first. */
function commandsFor(key: string, { after = 0, before, cursor }: TimeRange, limit: number): (string | number)[][] {
  const top = cursor ? `(${cursor.at}` : topOf(before);
  const next = ['zrevrangebyscore', key, top, after, 'WITHSCORES', 'LIMIT', 0, limit];
  if (!cursor) return [next];
  return [['zrevrangebyscore', key, cursor.at, Math.max(cursor.at, after), 'WITHSCORES'], next];
}

function topOf(before: number | undefined): string {
  return before === undefined ? '+inf' : `(${before}`;
}

function older(found: Position[], { cursor }: TimeRange): Position[] {
  return cursor ? found.filter((position) => isOlder(position, cursor)) : found;
}

export function newestFirst(positions: Position[]): Position[] {
  return positions.sort((a, b) => (isOlder(a, b) ? 1 : -1));
}

/** The newest of several lists that may have the same entries. */
export function firstOf(positions: readonly Position[], limit: number): Position[] {
  return newestFirst([...new Map(positions.map((position) => [position.id, position])).values()]).slice(0, limit);
}

/** Whether `a` comes after `b` in a list with the newest first. */
export function isOlder(a: Position, b: Position): boolean {
  return a.at < b.at || (a.at === b.at && a.id < b.id);
}

/** Parses the members and scores of a sorted set in Redis's format. */
export function toPositions(flat: readonly (string | number)[]): Position[] {
  return Array.from({ length: flat.length / 2 }, (_, i) => ({
    id: flat[2 * i] as string,
    at: Number(flat[2 * i + 1]),
  }));
}
