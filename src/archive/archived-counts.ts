/** Counts of archived events: whole days and minutes from the counts of shipments, parts of minutes from the rows. */

import { addTo } from '../model/values/counting.ts';
import { DAY_MS, floorTo, type Interval, MINUTE_MS } from '../model/values/time.ts';
import { type ArchivedDay, type ArchivedDays, dayOf } from './archived-days.ts';
import { Conditions } from './conditions.ts';
import { Repository, toUuid } from './database.ts';
import { daysOf } from './day-batches.ts';

/** The environment, or some of its event names, to count. */
export interface Counted {
  envId: number;
  /** Numbers of the names; undefined: all names. */
  names?: readonly number[] | undefined;
}

/** A whole minute or a part of a minute. */
export interface NamedPiece extends Interval {
  nameId: number;
}

type CountRow = { key: number; count: number };

export class ArchivedCounts extends Repository<{ days: ArchivedDays }> {
  /** Number of events in each of several adjacent intervals.
   *  @param except starts of minutes to leave out */
  async ofIntervals(counted: Counted, intervals: readonly Interval[], except: ReadonlySet<number>): Promise<number[]> {
    const counts = intervals.map(() => 0);
    const [first, last] = [intervals[0], intervals.at(-1)];
    if (!first || !last) return counts;
    const add = (of: number, count: number) => {
      counts[of] = (counts[of] ?? 0) + count;
    };
    const edges = [...intervals.map(({ from }) => from), last.to];
    const days = await this.deps.days.between(counted.envId, 'events', ...daysOf({ from: first.from, to: last.to }));
    const exceptDays = new Set([...except].map(dayOf));
    const cut = new Set(edges.filter((edge) => edge % MINUTE_MS !== 0).map((at) => floorTo(at, MINUTE_MS)));
    const skip = [...new Set([...except, ...cut])];
    const whole: { day: ArchivedDay; of: number }[] = [];
    for (const day of days) {
      const of = intervals.findIndex(({ from, to }) => from <= day.day && to >= day.day + DAY_MS);
      if (of !== -1 && !exceptDays.has(day.day)) {
        whole.push({ day, of });
        continue;
      }
      const range = { from: Math.max(day.day, first.from), to: Math.min(day.day + DAY_MS, last.to) };
      const conditions = dayConditions(day, range, counted);
      conditions.add('NOT (at = ANY(?))', skip);
      const text = `SELECT width_bucket(at, ${conditions.value(edges)}::bigint[]) - 1 AS key, sum(count) AS count
        FROM event_counts WHERE ${conditions.sql} GROUP BY 1`;
      for (const { key, count } of await this.database.query<CountRow>(text, conditions.values)) add(key, count);
      const pieces = piecesOf(day.day, cut, except, intervals);
      for (const [i, count] of (await this.#rowsIn(day, counted, pieces)).entries())
        add(pieces[i]?.of as number, count);
    }
    for (const [i, count] of (await this.#ofDays(counted, whole)).entries()) add(whole[i]?.of as number, count);
    return counts;
  }

  /** Number of events of each name received since a time, by the number of the name. */
  async ofNames(
    counted: Required<Counted>,
    from: number,
    except: ReadonlySet<number>,
    to: number,
  ): Promise<Map<number, number>> {
    const counts = new Map<number, number>();
    const add = ({ key, count }: CountRow) => addTo(counts, key, count);
    const days = await this.deps.days.between(counted.envId, 'events', ...daysOf({ from, to }));
    const exceptDays = new Set([...except].map(dayOf));
    const isWhole = ({ day }: ArchivedDay) => day >= from && !exceptDays.has(day);
    const whole = days.filter(isWhole);
    if (whole.length > 0) {
      const conditions = inTables(whole).add('env_id = ? AND name_id = ANY(?)', counted.envId, counted.names);
      const text = `SELECT name_id AS key, sum(count)::bigint AS count FROM event_name_days WHERE ${conditions.sql} GROUP BY 1`;
      (await this.database.query<CountRow>(text, conditions.values)).forEach(add);
    }
    const cut = floorTo(from, MINUTE_MS);
    for (const day of days.filter((part) => !isWhole(part))) {
      const range = { from: Math.max(day.day, from), to: day.day + DAY_MS };
      const conditions = dayConditions(day, range, counted).add('NOT (at = ANY(?))', [...except]);
      const text = `SELECT name_id AS key, sum(count) AS count FROM event_counts WHERE ${conditions.sql} GROUP BY 1`;
      (await this.database.query<CountRow>(text, conditions.values)).forEach(add);
      if (cut === from || except.has(cut) || dayOf(cut) !== day.day) continue;
      const part = dayConditions(day, { from, to: cut + MINUTE_MS }, counted);
      const rows = `SELECT name_id AS key, count(*) AS count FROM events WHERE ${part.sql} GROUP BY 1`;
      (await this.database.query<CountRow>(rows, part.values)).forEach(add);
    }
    return counts;
  }

  /** Counts of minutes, by their start and the number of the name. */
  async ofMinutes(counted: Counted, minutes: readonly number[]): Promise<Map<number, Map<number, number>>> {
    const found = new Map<number, Map<number, number>>();
    if (minutes.length === 0) return found;
    const range = { from: Math.min(...minutes), to: Math.max(...minutes) + MINUTE_MS };
    const byDay = Map.groupBy(minutes, dayOf);
    for (const day of await this.deps.days.between(counted.envId, 'events', ...daysOf(range))) {
      const ofThis = byDay.get(day.day);
      if (!ofThis) continue;
      const conditions = dayConditions(day, { from: day.day, to: day.day + DAY_MS }, counted).add(
        'at = ANY(?)',
        ofThis,
      );
      const text = `SELECT at, name_id, count FROM event_counts WHERE ${conditions.sql}`;
      const rows = await this.database.query<{ at: number; name_id: number; count: number }>(text, conditions.values);
      for (const { at, name_id, count } of rows) {
        const names = found.get(at) ?? new Map<number, number>();
        found.set(at, names.set(name_id, count));
      }
    }
    return found;
  }

  /** Number of events of a name in each part of a minute.
   *  @param besides IDs of events to leave out */
  async ofPieces(envId: number, pieces: readonly NamedPiece[], besides: readonly string[]): Promise<number[]> {
    const counts = pieces.map(() => 0);
    if (pieces.length === 0) return counts;
    const range = { from: Math.min(...pieces.map(({ from }) => from)), to: Math.max(...pieces.map(({ to }) => to)) };
    const byDay = Map.groupBy(pieces.keys(), (i) => dayOf((pieces[i] as NamedPiece).from));
    for (const day of await this.deps.days.between(envId, 'events', ...daysOf(range))) {
      const places = byDay.get(day.day) ?? [];
      const ofThis = places.map((i) => pieces[i] as NamedPiece);
      for (const [i, count] of (await this.#rowsIn(day, { envId }, ofThis, besides)).entries()) {
        counts[places[i] as number] = count;
      }
    }
    return counts;
  }

  /** Names sorted by their newest archived event, newest first, back to a time. */
  async newestNames(
    envId: number,
    limit: number,
    from: number,
    to: number,
  ): Promise<{ name: string; lastAt: number }[]> {
    const days = await this.deps.days.between(envId, 'events', ...daysOf({ from, to }));
    if (days.length === 0) return [];
    const conditions = inTables(days).add('env_id = ?', envId);
    const text = `SELECT n.name, d.last_at AS "lastAt" FROM (
        SELECT name_id, max(last_at) AS last_at FROM event_name_days WHERE ${conditions.sql}
        GROUP BY 1 HAVING max(last_at) >= ${conditions.value(from)}
        ORDER BY 2 DESC LIMIT ${conditions.value(limit)}) d
      JOIN event_names n ON n.id = d.name_id ORDER BY d.last_at DESC, n.name`;
    return this.database.query(text, conditions.values);
  }

  async #ofDays({ envId, names }: Counted, whole: readonly { day: ArchivedDay }[]): Promise<number[]> {
    if (names === undefined || whole.length === 0) return whole.map(({ day }) => day.rows);
    const conditions = inTables(whole.map(({ day }) => day)).add('env_id = ? AND name_id = ANY(?)', envId, names);
    const text = `SELECT at AS key, sum(count)::bigint AS count FROM event_name_days WHERE ${conditions.sql} GROUP BY 1`;
    const rows = await this.database.query<CountRow>(text, conditions.values);
    const counts = new Map(rows.map(({ key, count }) => [key, count]));
    return whole.map(({ day }) => counts.get(day.day) ?? 0);
  }

  /** Number of rows in each part of a day. */
  async #rowsIn(
    { day, retention }: ArchivedDay,
    { envId, names }: Counted,
    pieces: readonly (Interval & { nameId?: number })[],
    besides: readonly string[] = [],
  ): Promise<number[]> {
    if (pieces.length === 0) return [];
    const conditions = new Conditions().add('retention = ? AND at >= ? AND at < ?', retention, day, day + DAY_MS);
    const isNamed = pieces[0]?.nameId !== undefined;
    if (isNamed) conditions.add('name_id = p.name_id');
    else if (names === undefined) conditions.add('env_id = ?', envId);
    else conditions.add('name_id = ANY(?)', names);
    if (besides.length > 0) conditions.add('NOT (id IN (SELECT unnest(?::uuid[])))', besides.map(toUuid));
    const lists = [pieces.map(({ from }) => from), pieces.map(({ to }) => to), pieces.map(({ nameId }) => nameId ?? 0)];
    const [from, to, ids] = lists.map((list) => conditions.value(list));
    const rows = await this.database.query<{ count: number }>(
      `SELECT c.count FROM unnest(${from}::bigint[], ${to}::bigint[], ${ids}::int[])
         WITH ORDINALITY AS p (from_at, to_at, name_id, place) CROSS JOIN LATERAL
         (SELECT count(*) AS count FROM events WHERE at >= p.from_at AND at < p.to_at AND ${conditions.sql}) c ORDER BY p.place`,
      conditions.values,
    );
    return rows.map(({ count }) => count);
  }
}

function dayConditions({ retention }: ArchivedDay, { from, to }: Interval, { envId, names }: Counted): Conditions {
  const conditions = new Conditions().add('retention = ? AND at >= ? AND at < ?', retention, from, to);
  conditions.add('env_id = ?', envId);
  return names === undefined ? conditions : conditions.add('name_id = ANY(?)', names);
}

function inTables(days: readonly ArchivedDay[]): Conditions {
  const retentions = [...new Set(days.map(({ retention }) => retention))];
  return new Conditions().add(
    'retention = ANY(?) AND at = ANY(?)',
    retentions,
    days.map(({ day }) => day),
  );
}

function piecesOf(day: number, cut: ReadonlySet<number>, except: ReadonlySet<number>, intervals: readonly Interval[]) {
  const minutes = [...cut].filter((minute) => dayOf(minute) === day && !except.has(minute));
  return minutes.flatMap((minute) =>
    intervals.flatMap(({ from, to }, of) => {
      const piece = { of, from: Math.max(from, minute), to: Math.min(to, minute + MINUTE_MS) };
      return piece.from < piece.to ? [piece] : [];
    }),
  );
}
