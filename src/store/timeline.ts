/** Sorted sets of IDs by time, read as one list: newest first, by time and then by ID. A page says where the next begins, so what
 *  arrives meanwhile moves nothing. */
import { type Redis, replies } from './redis.ts';

/** Where something stands in a timeline. */
export interface Position {
  /** Unix milliseconds. */
  at: number;
  id: string;
}

export interface Span {
  /** Unix milliseconds, inclusive. */
  after?: number | undefined;
  /** Unix milliseconds, exclusive. */
  before?: number | undefined;
  /** The last of the page before. */
  cursor?: Position | undefined;
}

/** The next `limit` of all sets together, read at one moment: what moves from one set to another is seen once. */
export async function newest(redis: Redis, keys: readonly string[], span: Span, limit: number): Promise<Position[]> {
  if (keys.length === 0) return [];
  const { after = 0, before, cursor } = span;
  const reading = redis.multi();
  for (const key of keys) {
    if (cursor) reading.zrevrangebyscore(key, cursor.at, Math.max(cursor.at, after), 'WITHSCORES');
    const top = cursor ? `(${cursor.at}` : before === undefined ? '+inf' : `(${before}`;
    reading.zrevrangebyscore(key, top, after, 'WITHSCORES', 'LIMIT', 0, limit);
  }
  const found = replies<string[]>(await reading.exec()).flatMap(toPositions);
  const rest = cursor ? found.filter((position) => isOlder(position, cursor)) : found;
  return rest.sort((a, b) => (isOlder(a, b) ? 1 : -1)).slice(0, limit);
}

/** Whether `a` comes after `b` in a list that begins with the newest. */
export function isOlder(a: Position, b: Position): boolean {
  return a.at < b.at || (a.at === b.at && a.id < b.id);
}

function toPositions(flat: string[]): Position[] {
  return Array.from({ length: flat.length / 2 }, (_, i) => ({
    id: flat[2 * i] as string,
    at: Number(flat[2 * i + 1]),
  }));
}
