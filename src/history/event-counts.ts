/** Counts of events across Redis and the archive. They are exact while events move: a minute present in both is counted by Redis's IDs,
 *  plus the archived events of that minute that are not among them. */
import type { Archive } from '../archive/archive.ts';
import { ArchivedCounts } from '../archive/archived-counts.ts';
import { toText } from '../archive/database.ts';
import { isArchiveUnavailable } from '../errors.ts';
import { Composed } from '../model/values/composed.ts';
import { floorTo, type Interval, MINUTE_MS } from '../model/values/time.ts';
import {
  type Bucket,
  type CountedName,
  type EventCounts,
  type HistogramQuery,
  intervalsOf,
  type MinutePiece,
} from '../store/events/event-counts.ts';
import { archiveBorder, type MaybeIncomplete } from './merged-page.ts';

/** Number of events of a name in a piece. */
interface PieceCount {
  piece: MinutePiece;
  name: string;
  count: number;
}

export class EventCountHistory extends Composed<{ counts: EventCounts; archive: Archive }> {
  readonly #archived = new ArchivedCounts(this.deps.archive.database, { days: this.deps.archive.days });

  /** If the archive is unavailable, archived events are missing: `stoppedEarly`. */
  async histogram(query: HistogramQuery): Promise<{ buckets: Bucket[] } & MaybeIncomplete> {
    const { env, name } = query;
    const { oldest, border } = await this.#range(env, Date.now());
    const buckets = intervalsOf(query).map((interval) => ({ ...interval, count: 0 }));
    const hot = clipped(buckets, border, Number.POSITIVE_INFINITY);
    const both = clipped(buckets, oldest, border);
    const add = (to: readonly { of: number }[], of: number, count: number) => {
      const bucket = buckets[to[of]?.of as number] as Bucket;
      bucket.count += count;
    };
    for (const [i, count] of (await this.deps.counts.counts(env, name, hot)).entries()) add(hot, i, count);
    const pieces = await this.#pieces(env, both, name);
    let counted: { ofPieces: PieceCount[]; ofRest: number[] };
    try {
      counted = both.length === 0 ? { ofPieces: [], ofRest: [] } : await this.#both(env, name, both, pieces);
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      for (const piece of pieces) for (const count of piece.names.values()) add(both, piece.of, count);
      return { buckets, stoppedEarly: 'archive_unavailable' };
    }
    for (const { piece, count } of counted.ofPieces) add(both, piece.of, count);
    for (const [i, count] of counted.ofRest.entries()) add(both, i, count);
    return { buckets };
  }

  /** Names sorted by their newest event, newest first. */
  async names(env: string, limit: number, nowMs: number): Promise<{ names: CountedName[] } & MaybeIncomplete> {
    const { oldest, border } = await this.#range(env, nowMs);
    const found = new Map<string, CountedName>();
    const hot = await this.deps.counts.newestNames(env, limit, oldest);
    const counts = await this.deps.counts.countsSince(
      env,
      hot.map(({ name }) => name),
      border,
    );
    for (const [i, counted] of hot.entries())
      found.set(toText(counted.name), { ...counted, count: counts[i] as number });
    const pieces = await this.#pieces(env, [{ from: oldest, to: border }]);
    const add = (name: string, count: number) => {
      const counted = found.get(toText(name));
      if (counted) counted.count += count;
    };
    const sorted = () => [...found.values()].sort((a, b) => b.lastAt - a.lastAt || (a.name < b.name ? 1 : -1));
    const hotNames = () => {
      for (const piece of pieces) for (const [name, count] of piece.names) add(name, count);
      return sorted().slice(0, limit);
    };
    try {
      const envId = await this.deps.archive.numbers.environment(env);
      if (envId === undefined) return { names: hotNames() };
      for (const { name, lastAt } of await this.#archived.newestNames(envId, limit, oldest, border)) {
        const present = found.get(name);
        if (present) present.lastAt = Math.max(present.lastAt, lastAt);
        else found.set(name, { name, lastAt, count: 0 });
      }
      for (const { name } of sorted().slice(limit)) found.delete(toText(name));
      const numbers = await this.deps.archive.numbers.ofMany(
        'event_names',
        envId,
        [...found.values()].map(({ name }) => name),
      );
      const names = new Map([...numbers].map(([name, number]) => [number, name]));
      const rest = { envId, names: [...names.keys()] };
      for (const { name, count } of await this.#ofPieces(envId, env, undefined, pieces)) add(name, count);
      for (const [number, count] of await this.#archived.ofNames(rest, oldest, minutesOf(pieces), border)) {
        add(names.get(number) as string, count);
      }
      return { names: sorted() };
    } catch (error) {
      if (!isArchiveUnavailable(error)) throw error;
      return { names: hotNames(), stoppedEarly: 'archive_unavailable' };
    }
  }

  /** The range that may contain archived, visible events. */
  async #range(env: string, nowMs: number): Promise<{ oldest: number; border: number }> {
    const border = floorTo(archiveBorder(this.deps.archive, nowMs), MINUTE_MS) + MINUTE_MS;
    const oldest = await this.deps.archive.events.oldest(env, nowMs);
    return { oldest: Math.max(0, oldest), border: Math.max(border, oldest) };
  }

  /** Redis's part of minutes that may also be in the archive. */
  async #pieces(env: string, intervals: readonly Interval[], name?: string): Promise<MinutePiece[]> {
    const pieces = await this.deps.counts.pieces(env, intervals);
    if (name === undefined) return pieces;
    return pieces.map((piece) => ({ ...piece, names: new Map([[name, piece.names.get(name) ?? 0]]) }));
  }

  /** Counts of minutes that are in Redis, and of all others. */
  async #both(env: string, name: string | undefined, intervals: readonly Interval[], pieces: readonly MinutePiece[]) {
    const envId = await this.deps.archive.numbers.environment(env);
    const nameId =
      envId === undefined || name === undefined
        ? undefined
        : await this.deps.archive.numbers.of('event_names', envId, name);
    if (envId === undefined || (name !== undefined && nameId === undefined)) {
      return { ofPieces: hotCounts(pieces), ofRest: [] };
    }
    const ofPieces = await this.#ofPieces(envId, env, nameId, pieces);
    const counted = { envId, names: nameId === undefined ? undefined : [nameId] };
    return { ofPieces, ofRest: await this.#archived.ofIntervals(counted, intervals, minutesOf(pieces)) };
  }

  /** Counts the minutes that are in Redis.
   *  @param nameId undefined: all names */
  async #ofPieces(
    envId: number,
    env: string,
    nameId: number | undefined,
    all: readonly MinutePiece[],
  ): Promise<PieceCount[]> {
    const minutes = minutesOf(all);
    const pieces = all.filter(({ from }) => minutes.has(floorTo(from, MINUTE_MS)));
    const counted = { envId, names: nameId === undefined ? undefined : [nameId] };
    const archived = await this.#archived.ofMinutes(counted, [...minutes]);
    const hotNames = new Set(pieces.flatMap(({ names }) => [...names.keys()]));
    const numbers = await this.deps.archive.numbers.ofMany('event_names', envId, [...hotNames]);
    const unseen = [...archived.values()].flatMap((names) => [...names.keys()]);
    const texts = await this.deps.archive.numbers.texts('event_names', unseen);
    const found: PieceCount[] = [];
    const inBoth: (PieceCount & Interval & { nameId: number })[] = [];
    for (const piece of pieces) {
      const { from, to, names } = piece;
      const ofMinute = archived.get(floorTo(from, MINUTE_MS)) ?? new Map<number, number>();
      const hot = new Set<number>();
      for (const [name, count] of names) {
        const number = numbers.get(name);
        if (number === undefined || !ofMinute.has(number)) found.push({ piece, name, count });
        else inBoth.push({ piece, name, count, from, to, nameId: number });
        if (number !== undefined) hot.add(number);
      }
      for (const [number, count] of ofMinute) {
        if (hot.has(number)) continue;
        const name = texts.get(number) ?? '';
        if (to - from === MINUTE_MS) found.push({ piece, name, count });
        else inBoth.push({ piece, name, count: 0, from, to, nameId: number });
      }
    }
    const ids = await this.deps.counts.ids(env, inBoth);
    const rest = await this.#archived.ofPieces(envId, inBoth, ids.flat());
    return [
      ...found,
      ...inBoth.map(({ piece, name }, i) => ({
        piece,
        name,
        count: (ids[i] as string[]).length + (rest[i] as number),
      })),
    ];
  }
}

/** The parts of intervals within a time range, with the index of each. */
function clipped(intervals: readonly Interval[], from: number, to: number): (Interval & { of: number })[] {
  return intervals.flatMap((interval, of) => {
    const part = { of, from: Math.max(interval.from, from), to: Math.min(interval.to, to) };
    return part.from < part.to ? [part] : [];
  });
}

/** Minutes with events in Redis. */
function minutesOf(pieces: readonly MinutePiece[]): Set<number> {
  const present = pieces.filter(({ names }) => [...names.values()].some((count) => count > 0));
  return new Set(present.map(({ from }) => floorTo(from, MINUTE_MS)));
}

function hotCounts(pieces: readonly MinutePiece[]): PieceCount[] {
  return pieces.flatMap((piece) => [...piece.names].map(([name, count]) => ({ piece, name, count })));
}
