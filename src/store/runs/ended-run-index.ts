/** The ended runs of an environment, by ending and time of creation. They are in segments: lists of short texts, which take a quarter of
 *  the memory of sorted sets. A segment holds the runs of a minute; further runs are in segments of one second, and those that do not fit
 *  there in the shortest segments. So a segment is quick to read, with one run a minute or thousands a second. */
import type { Ending } from '../../model/runs/run.ts';
import { floorTo, MINUTE_MS } from '../../model/values/time.ts';
import { SEGMENT_LENGTHS_MS } from '../keys/runs.ts';
import { inPipelines, type Redis } from '../redis/connection/connection.ts';
import type { Keyspace, PartitionKeyspace } from '../redis/keyspace/keyspace.ts';
import { isOlder, mergeNewest, newestFirst, type Position, type TimeRange } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';

/** Maximum number of runs per segment; further runs are in shorter segments. Stored data depends on it: a smaller value still finds
 *  everything stored with a larger one, but not vice versa. */
const SEGMENT_SIZE = 1_000;
/** The maximum with several partitions, because a list reads segments of each. The number of partitions never falls. */
const SEGMENT_SIZE_OF_MANY = 512;

export function segmentSize(keys: Keyspace): number {
  return keys.all().length > 1 ? SEGMENT_SIZE_OF_MANY : SEGMENT_SIZE;
}

const ID_LENGTH = 26;

/** Number of minutes in the first read, and the growth factor of later reads. */
const MINUTES_FIRST = 16;
const MINUTES_GROWTH = 4;
const MINUTES_MAX = 1_000;

interface Query {
  /** Keys of one partition. */
  keys: PartitionKeyspace;
  env: string;
  ending: Ending['status'];
  timeRange: TimeRange;
  limit: number;
}

/** Ended runs created within one minute, in one partition. */
export interface EndedMinute extends Pick<Query, 'keys' | 'env' | 'ending'> {
  /** Start of the minute, Unix milliseconds. */
  minute: number;
}

interface Segment {
  /** Unix milliseconds. */
  from: number;
  /** Whether more runs are in shorter segments. */
  isFull: boolean;
}

/** All runs created since a time, up to the time of the previous part. */
interface Part {
  /** Unix milliseconds. */
  from: number;
  /** Unsorted. */
  runs: Position[];
}

export class EndedRunIndex extends Repository<Redis, { segmentSize?: number | undefined }> {
  /** The next `limit` runs with this ending. */
  async newest({ env, ending, timeRange, limit }: Omit<Query, 'keys'>): Promise<Position[]> {
    const lists = this.keys.all().map((keys) => (wanted: number, cursor: Position | undefined) => {
      return this.#newestIn({ keys, env, ending, timeRange: { ...timeRange, cursor }, limit: wanted });
    });
    return mergeNewest(lists, timeRange.cursor, limit);
  }

  /** Number of ended runs for each of the minutes. */
  async countsIn(minutes: readonly EndedMinute[]): Promise<number[]> {
    const counts = minutes.map(() => 0);
    let wanted = minutes.map(({ minute, ...of }, at) => ({ ...of, from: minute, at }));
    const size = this.deps.segmentSize ?? segmentSize(this.keys);
    for (const [kind, length] of SEGMENT_LENGTHS_MS.entries()) {
      const commands = wanted.map((segment) => ['llen', this.#segmentKey(segment, segment.from, kind)]);
      const lengths = await inPipelines<number>(this.redis, commands);
      for (const [i, { at }] of wanted.entries()) counts[at] = (counts[at] as number) + (lengths[i] as number);
      const shorter = SEGMENT_LENGTHS_MS[kind + 1];
      if (shorter === undefined) break;
      const full = wanted.filter((_, i) => (lengths[i] as number) >= size);
      wanted = full.flatMap((segment) => {
        return Array.from({ length: length / shorter }, (_, n) => ({ ...segment, from: segment.from + n * shorter }));
      });
    }
    return counts;
  }

  async #newestIn(query: Query): Promise<Position[]> {
    let found: Position[] = [];
    for await (const minutes of this.#minutes(query)) {
      for await (const { runs } of this.#parts(query, minutes, 0)) {
        found = [...found, ...runs.filter((run) => isWithin(run, query.timeRange))];
        if (found.length >= query.limit) return newestFirst(found).slice(0, query.limit);
      }
    }
    return newestFirst(found);
  }

  /** Minutes with a segment, newest first. */
  async *#minutes({ keys, env, ending, timeRange }: Query): AsyncGenerator<number[]> {
    const { from, to } = boundsOf(timeRange);
    const oldest = floorTo(from, MINUTE_MS);
    let top = to === Number.POSITIVE_INFINITY ? '+inf' : String(to);
    for (let size = MINUTES_FIRST; ; size = Math.min(size * MINUTES_GROWTH, MINUTES_MAX)) {
      const key = keys.endedRunMinutes(env, ending);
      const minutes: string[] = await this.redis.zrevrangebyscore(key, top, oldest, 'LIMIT', 0, size);
      yield minutes.map(Number);
      if (minutes.length < size) return;
      top = `(${minutes.at(-1)}`;
    }
  }

  /** Parts, newest first, each large enough if all its runs are within the time range.
   *  @param starts starts of segments with the length `kind`, newest first */
  async *#parts(query: Query, starts: readonly number[], kind: number): AsyncGenerator<Part> {
    for (const segments of await this.#portions(query, starts, kind)) {
      const runs = await this.#read(query, segments, kind);
      const last = segments.at(-1) as Segment;
      if (last.isFull) yield* this.#withShorter(query, { from: last.from, runs }, kind);
      else yield { from: last.from, runs };
    }
  }

  /** A part whose oldest segment is full, merged with the shorter segments of the same time. */
  async *#withShorter(query: Query, { from, runs }: Part, kind: number): AsyncGenerator<Part> {
    const starts = startsWithin(from, kind, query.timeRange);
    let rest = runs;
    for await (const part of this.#parts(query, starts, kind + 1)) {
      yield { from: part.from, runs: [...part.runs, ...rest.filter(({ at }) => at >= part.from)] };
      rest = rest.filter(({ at }) => at < part.from);
    }
    yield { from, runs: rest };
  }

  /** Groups of segments to read together. A full segment ends its group: it may be enough by itself. */
  async #portions(query: Query, starts: readonly number[], kind: number): Promise<Segment[][]> {
    const commands = starts.map((from) => ['llen', this.#segmentKey(query, from, kind)]);
    const lengths = await inPipelines<number>(this.redis, commands);
    const size = this.deps.segmentSize ?? segmentSize(this.keys);
    const portions: Segment[][] = [];
    let room = 0;
    for (const [i, from] of starts.entries()) {
      const length = lengths[i] as number;
      if (length === 0) continue;
      const isFull = length >= size && kind < SEGMENT_LENGTHS_MS.length - 1;
      if (room > 0) portions.at(-1)?.push({ from, isFull });
      else portions.push([{ from, isFull }]);
      room = isFull ? 0 : (room > 0 ? room : query.limit) - length;
    }
    return portions;
  }

  async #read(query: Query, segments: readonly Segment[], kind: number): Promise<Position[]> {
    const commands = segments.map(({ from }) => ['lrange', this.#segmentKey(query, from, kind), 0, -1]);
    const lists = await inPipelines<string[]>(this.redis, commands);
    return lists.flatMap((entries, i) => {
      const minute = floorTo((segments[i] as Segment).from, MINUTE_MS);
      return entries.map((entry) => ({ id: entry.slice(0, ID_LENGTH), at: minute + Number(entry.slice(ID_LENGTH)) }));
    });
  }

  #segmentKey({ keys, env, ending }: Pick<Query, 'keys' | 'env' | 'ending'>, from: number, kind: number): string {
    return keys.endedRuns(env, ending, `${SEGMENT_LENGTHS_MS[kind]}:${from}`);
  }
}

/** Starts of the shorter segments of a segment that overlap the time range, newest first. */
function startsWithin(from: number, kind: number, timeRange: TimeRange): number[] {
  const length = SEGMENT_LENGTHS_MS[kind + 1] as number;
  const bounds = boundsOf(timeRange);
  const first = Math.max(from, floorTo(bounds.from, length));
  const last = Math.min(from + (SEGMENT_LENGTHS_MS[kind] as number) - length, bounds.to);
  const starts: number[] = [];
  for (let start = first; start <= last; start += length) starts.unshift(start);
  return starts;
}

/** Both bounds are inclusive. */
function boundsOf({ after = 0, before = Number.POSITIVE_INFINITY, cursor }: TimeRange): { from: number; to: number } {
  return { from: after, to: Math.min(before - 1, cursor?.at ?? Number.POSITIVE_INFINITY) };
}

function isWithin(run: Position, { after = 0, before = Number.POSITIVE_INFINITY, cursor }: TimeRange): boolean {
  return run.at >= after && run.at < before && (!cursor || isOlder(run, cursor));
}
