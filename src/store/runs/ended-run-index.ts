/** The runs of an environment that have ended, by how they did and by when they were created. A slot is a list of short texts, which take a
 *  quarter of what entries of a sorted set take. It has the runs of a minute; those for which it has no room are in the slots of its seconds, and those
 *  for which these have none in slots of the shortest kind. So a slot is soon read, be it one run a minute or thousands a second. */
import type { Ending } from '../../model/runs/run.ts';
import { MINUTE_MS } from '../events/keys.ts';
import { inPipelines, type Redis } from '../redis/connection.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import { isOlder, newestFirst, type Position, type TimeRange } from '../redis/pagination.ts';
import { SEGMENT_LENGTHS_MS } from './keys.ts';

/** Where a slot has so many, further runs are in shorter ones. What is stored has been stored with this. */
export const SEGMENT_SIZE = 1_000;

const ID_LENGTH = 26;

/** Minutes that are looked at first, and how many times more with each further look. */
const MINUTES_FIRST = 16;
const MINUTES_GROWTH = 4;
const MINUTES_MAX = 1_000;

interface Query {
  env: string;
  ending: Ending['status'];
  timeRange: TimeRange;
  limit: number;
}

/** A stretch of time that has a slot. */
interface Stretch {
  /** Unix milliseconds. */
  from: number;
  /** There are more in shorter ones. */
  isFull: boolean;
}

/** All runs that were created from a time on, up to that of the part before. */
interface Part {
  /** Unix milliseconds. */
  from: number;
  /** In no order. */
  runs: Position[];
}

export class EndedRunIndex {
  readonly #redis: Redis;
  readonly #keys: Keyspace;
  readonly #segmentSize: number;

  constructor(redis: Redis, keys: Keyspace, segmentSize: number = SEGMENT_SIZE) {
    this.#redis = redis;
    this.#keys = keys;
    this.#segmentSize = segmentSize;
  }

  /** The next `limit` of those that ended so. */
  async newest(query: Query): Promise<Position[]> {
    let found: Position[] = [];
    for await (const minutes of this.#minutes(query)) {
      for await (const { runs } of this.#parts(query, minutes, 0)) {
        found = [...found, ...runs.filter((run) => isWithin(run, query.timeRange))];
        if (found.length >= query.limit) return newestFirst(found).slice(0, query.limit);
      }
    }
    return newestFirst(found);
  }

  /** Those that have a slot, backwards. */
  async *#minutes({ env, ending, timeRange }: Query): AsyncGenerator<number[]> {
    const { from, to } = boundsOf(timeRange);
    const oldest = startOf(from, MINUTE_MS);
    let top = to === Number.POSITIVE_INFINITY ? '+inf' : String(to);
    for (let size = MINUTES_FIRST; ; size = Math.min(size * MINUTES_GROWTH, MINUTES_MAX)) {
      const key = this.#keys.endedRunMinutes(env, ending);
      const minutes: string[] = await this.#redis.zrevrangebyscore(key, top, oldest, 'LIMIT', 0, size);
      yield minutes.map(Number);
      if (minutes.length < size) return;
      top = `(${minutes.at(-1)}`;
    }
  }

  /** Backwards, in parts that have enough where all of their runs are of the timeRange.
   *  @param starts of stretches of that kind, the last first */
  async *#parts(query: Query, starts: readonly number[], kind: number): AsyncGenerator<Part> {
    for (const stretches of await this.#portions(query, starts, kind)) {
      const runs = await this.#read(query, stretches, kind);
      const last = stretches.at(-1) as Stretch;
      if (last.isFull) yield* this.#withShorter(query, { from: last.from, runs }, kind);
      else yield { from: last.from, runs };
    }
  }

  /** A part whose oldest stretch has shorter ones beside it. */
  async *#withShorter(query: Query, { from, runs }: Part, kind: number): AsyncGenerator<Part> {
    const starts = startsWithin(from, kind, query.timeRange);
    let rest = runs;
    for await (const part of this.#parts(query, starts, kind + 1)) {
      yield { from: part.from, runs: [...part.runs, ...rest.filter(({ at }) => at >= part.from)] };
      rest = rest.filter(({ at }) => at < part.from);
    }
    yield { from, runs: rest };
  }

  /** Stretches that are to be read together. A full one is the last of its portion: it may do by itself. */
  async #portions(query: Query, starts: readonly number[], kind: number): Promise<Stretch[][]> {
    const commands = starts.map((from) => ['llen', this.#slot(query, from, kind)]);
    const lengths = await inPipelines<number>(this.#redis, commands);
    const portions: Stretch[][] = [];
    let room = 0;
    for (const [i, from] of starts.entries()) {
      const length = lengths[i] as number;
      if (length === 0) continue;
      const isFull = length >= this.#segmentSize && kind < SEGMENT_LENGTHS_MS.length - 1;
      if (room > 0) portions.at(-1)?.push({ from, isFull });
      else portions.push([{ from, isFull }]);
      room = isFull ? 0 : (room > 0 ? room : query.limit) - length;
    }
    return portions;
  }

  async #read(query: Query, stretches: readonly Stretch[], kind: number): Promise<Position[]> {
    const commands = stretches.map(({ from }) => ['lrange', this.#slot(query, from, kind), 0, -1]);
    const slots = await inPipelines<string[]>(this.#redis, commands);
    return slots.flatMap((entries, i) => {
      const minute = startOf((stretches[i] as Stretch).from, MINUTE_MS);
      return entries.map((entry) => ({ id: entry.slice(0, ID_LENGTH), at: minute + Number(entry.slice(ID_LENGTH)) }));
    });
  }

  #slot({ env, ending }: Query, from: number, kind: number): string {
    return this.#keys.endedRuns(env, ending, `${SEGMENT_LENGTHS_MS[kind]}:${from}`);
  }
}

/** Backwards, the shorter stretches of one that touch the timeRange. */
function startsWithin(from: number, kind: number, timeRange: TimeRange): number[] {
  const length = SEGMENT_LENGTHS_MS[kind + 1] as number;
  const bounds = boundsOf(timeRange);
  const first = Math.max(from, startOf(bounds.from, length));
  const last = Math.min(from + (SEGMENT_LENGTHS_MS[kind] as number) - length, bounds.to);
  const starts: number[] = [];
  for (let start = first; start <= last; start += length) starts.unshift(start);
  return starts;
}

function startOf(timeMs: number, lengthMs: number): number {
  return timeMs - (timeMs % lengthMs);
}

/** Both inclusive. */
function boundsOf({ after = 0, before = Number.POSITIVE_INFINITY, cursor }: TimeRange): { from: number; to: number } {
  return { from: after, to: Math.min(before - 1, cursor?.at ?? Number.POSITIVE_INFINITY) };
}

function isWithin(run: Position, { after = 0, before = Number.POSITIVE_INFINITY, cursor }: TimeRange): boolean {
  return run.at >= after && run.at < before && (!cursor || isOlder(run, cursor));
}
