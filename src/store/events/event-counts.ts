/** Counts of stored events, over time and by name. */

import { chunksOf } from '../../model/values/chunks.ts';
import { sum } from '../../model/values/sum.ts';
import { type Interval, MINUTE_MS } from '../../model/values/time.ts';
import { inPipelines, type Redis } from '../redis/connection/connection.ts';
import { newestFirst, type Position, toPositions } from '../redis/pagination.ts';
import { Repository } from '../redis/repository.ts';
import type { EventsByMinute } from './events-by-minute.ts';

export interface HistogramQuery {
  env: string;
  name?: string | undefined;
  /** Unix milliseconds: from inclusive, to exclusive. */
  from: number;
  to: number;
  buckets: number;
}

/** Events of a minute, or of part of one, within one interval. */
export interface MinutePiece extends Interval {
  /** Index of the interval. */
  of: number;
  /** Number of events by name. */
  names: ReadonlyMap<string, number>;
}

export type Bucket = Interval & { count: number };

export interface CountedName {
  name: string;
  count: number;
  /** Receipt of the newest event, Unix milliseconds. */
  lastAt: number;
}

/** Minutes per read: each may have thousands of names. */
const MINUTES_AT_ONCE = 500;

/** Part of an interval. */
interface Piece extends Interval {
  /** Index of the interval. */
  of: number;
}

export class EventCounts extends Repository<Redis, { eventsByMinute: EventsByMinute; retentionMs: number }> {
  /** Number of events received in each of `buckets` intervals of equal length. */
  async histogram(query: HistogramQuery): Promise<{ buckets: Bucket[] }> {
    const intervals = intervalsOf(query);
    const counts = await this.counts(query.env, query.name, intervals);
    return { buckets: intervals.map((interval, i) => ({ ...interval, count: counts[i] as number })) };
  }

  /** Number of events received in each of several adjacent intervals. */
  async counts(env: string, name: string | undefined, intervals: readonly Interval[]): Promise<number[]> {
    if (intervals.length === 0) return [];
    if (name === undefined) return this.#countAll(env, intervals);
    return this.#countNamed(
      env,
      intervals.map((interval) => ({ name, interval })),
    );
  }

  /** Counts by minute and name, for minutes with events. */
  async pieces(env: string, intervals: readonly Interval[]): Promise<MinutePiece[]> {
    const [first, last] = [intervals[0], intervals.at(-1)];
    if (!first || !last) return [];
    const minutes = await this.deps.eventsByMinute.minutes(env, first.from, last.to);
    const { whole, cut } = byEdges(minutes, intervals);
    const pieces: MinutePiece[] = [];
    for (const some of chunksOf([...whole.keys()], MINUTES_AT_ONCE)) {
      for (const [i, names] of (await this.deps.eventsByMinute.read(env, some)).entries()) {
        const from = some[i] as number;
        pieces.push({ of: whole.get(from) as number, from, to: from + MINUTE_MS, names });
      }
    }
    const names = await this.deps.eventsByMinute.read(env, [...cut.keys()]);
    for (const [i, ofMinute] of [...cut.values()].entries()) {
      const ofNames = [...(names[i]?.keys() ?? [])];
      const wanted = ofMinute.flatMap((interval) => ofNames.map((name) => ({ name, interval })));
      const counts = (await this.#countNamed(env, wanted)).values();
      for (const piece of ofMinute) {
        pieces.push({ ...piece, names: new Map(ofNames.map((name) => [name, counts.next().value as number])) });
      }
    }
    return pieces;
  }

  async ids(env: string, wanted: readonly (Interval & { name: string })[]): Promise<string[][]> {
    const partitions = this.keys.all();
    const commands = wanted.flatMap(({ name, from, to }) =>
      partitions.map((keys) => ['zrangebyscore', keys.eventIndex(env, name), from, `(${to}`]),
    );
    const ids = await inPipelines<string[]>(this.redis, commands);
    return wanted.map((_, i) => ids.slice(i * partitions.length, (i + 1) * partitions.length).flat());
  }

  /** Names of the stored events, sorted by their newest event, newest first. */
  async names(env: string, limit: number, nowMs: number): Promise<{ names: CountedName[] }> {
    const oldest = nowMs - this.deps.retentionMs;
    const names = await this.newestNames(env, limit, oldest);
    const counts = await this.countsSince(
      env,
      names.map(({ name }) => name),
      oldest,
    );
    return { names: names.map((name, i) => ({ ...name, count: counts[i] as number })) };
  }

  /** Number of events of each name received since a time. */
  async countsSince(env: string, names: readonly string[], from: number): Promise<number[]> {
    const interval = { from, to: Number.POSITIVE_INFINITY };
    return this.#countNamed(
      env,
      names.map((name) => ({ name, interval })),
    );
  }

  /** Like `names`, back to a time. */
  async newestNames(env: string, limit: number, oldest: number): Promise<{ name: string; lastAt: number }[]> {
    const partitions = this.keys.all();
    const ofEach = await inPipelines<string[]>(
      this.redis,
      partitions.map((keys) => [
        'zrevrangebyscore',
        keys.eventNames(env),
        '+inf',
        oldest,
        'WITHSCORES',
        'LIMIT',
        0,
        limit,
      ]),
    );
    const found = newestNames(ofEach).slice(0, limit);
    return found.map(({ id, at }) => ({ name: id, lastAt: at }));
  }

  async #countNamed(env: string, wanted: readonly { name: string; interval: Interval }[]): Promise<number[]> {
    const partitions = this.keys.all();
    const commands = wanted.flatMap(({ name, interval: { from, to } }) => {
      const end = to === Number.POSITIVE_INFINITY ? '+inf' : `(${to}`;
      return partitions.map((keys) => ['zcount', keys.eventIndex(env, name), from, end]);
    });
    const counts = await inPipelines<number>(this.redis, commands);
    return wanted.map((_, i) => {
      const ofName = counts.slice(i * partitions.length, (i + 1) * partitions.length);
      return sum(ofName);
    });
  }

  /** Whole minutes are counted by their totals; minutes cut by an edge are counted in the indexes of their names. */
  async #countAll(env: string, intervals: readonly Interval[]): Promise<number[]> {
    const counts = intervals.map(() => 0);
    const add = (interval: number, count: number) => {
      counts[interval] = (counts[interval] as number) + count;
    };
    const { from } = intervals[0] as Interval;
    const { to } = intervals.at(-1) as Interval;
    const { whole, cut } = byEdges(await this.deps.eventsByMinute.minutes(env, from, to), intervals);

    const ofWhole = await this.deps.eventsByMinute.counts(env, [...whole.keys()]);
    [...whole.values()].forEach((interval, i) => {
      add(interval, ofWhole[i] as number);
    });

    const minutes = await this.deps.eventsByMinute.read(env, [...cut.keys()]);
    const parts = [...cut.values()].flatMap((pieces, i) =>
      [...(minutes[i]?.keys() ?? [])].flatMap((name) => pieces.map((piece) => ({ name, piece }))),
    );
    const ofParts = await this.#countNamed(
      env,
      parts.map(({ name, piece }) => ({ name, interval: piece })),
    );
    parts.forEach(({ piece }, i) => {
      add(piece.of, ofParts[i] as number);
    });
    return counts;
  }
}

/** Intervals of equal length. */
export function intervalsOf({ from, to, buckets }: Pick<HistogramQuery, 'from' | 'to' | 'buckets'>): Interval[] {
  const count = Math.min(buckets, to - from);
  const edge = (i: number) => from + Math.round(((to - from) * i) / count);
  return Array.from({ length: count }, (_, i) => ({ from: edge(i), to: edge(i + 1) }));
}

/** Names sorted by their newest event in any partition, newest first.
 *  @param ofEach name, time, name, time, … of each partition */
function newestNames(ofEach: readonly string[][]): Position[] {
  const found = new Map<string, Position>();
  for (const position of ofEach.flatMap(toPositions)) {
    const present = found.get(position.id);
    if (!present || present.at < position.at) found.set(position.id, position);
  }
  return newestFirst([...found.values()]);
}

/** Assigns minutes to adjacent intervals, both sorted: a minute within one interval stays whole, others are cut into pieces. */
function byEdges(minutes: readonly number[], intervals: readonly Interval[]) {
  const whole = new Map<number, number>();
  const cut = new Map<number, Piece[]>();
  let first = 0;
  for (const minute of minutes) {
    const end = minute + MINUTE_MS;
    while ((intervals[first]?.to ?? end) <= minute) first++;
    const interval = intervals[first] as Interval;
    if (interval.from <= minute && interval.to >= end) {
      whole.set(minute, first);
      continue;
    }
    const pieces: Piece[] = [];
    for (let of = first; of < intervals.length && (intervals[of] as Interval).from < end; of++) {
      const { from, to } = intervals[of] as Interval;
      pieces.push({ of, from: Math.max(from, minute), to: Math.min(to, end) });
    }
    cut.set(minute, pieces);
  }
  return { whole, cut };
}
