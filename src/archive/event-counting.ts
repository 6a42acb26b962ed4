/** Counts archived events by name, per minute and per day. */

import { DAY_MS, floorTo, MINUTE_MS } from '../model/values/time.ts';
import { type DayTables, dayOf } from './archived-days.ts';
import type { Client } from './database.ts';
import type { EventRow } from './rows.ts';

export interface NameCount {
  envId: number;
  retention: number;
  /** Start of the minute. */
  at: number;
  nameId: number;
  count: number;
  lastAt: number;
}

/** Counts by name and minute. */
export function countsOf(
  { envId, retention, nameIds }: { envId: number; retention: number; nameIds: ReadonlyMap<string, number> },
  rows: readonly EventRow[],
): NameCount[] {
  const counts = new Map<string, NameCount>();
  for (const { name, at } of rows) {
    const nameId = nameIds.get(name) as number;
    const minute = floorTo(at, MINUTE_MS);
    const key = `${nameId}:${minute}`;
    const present = counts.get(key);
    if (present) {
      present.count++;
      present.lastAt = Math.max(present.lastAt, at);
    } else {
      counts.set(key, { envId, retention, at: minute, nameId, count: 1, lastAt: at });
    }
  }
  return [...counts.values()];
}

export async function addCounts(client: Client, tables: DayTables, counts: readonly NameCount[]): Promise<void> {
  const byTable = Map.groupBy(counts, ({ retention, at }) => `${retention}:${dayOf(at)}`);
  for (const [, ofTable] of [...byTable].sort(([a], [b]) => a.localeCompare(b))) {
    const { retention, at } = ofTable[0] as NameCount;
    const minutes = await tables.ensure('event_counts', retention, dayOf(at));
    const days = await tables.ensure('event_name_days', retention, dayOf(at));
    const values = [
      ofTable.map((count) => count.at),
      ofTable.map(({ envId }) => envId),
      ofTable.map(({ nameId }) => nameId),
      ofTable.map(({ count }) => count),
      ofTable.map(({ lastAt }) => lastAt),
    ];
    // Sorted, so that archivers of two partitions do not deadlock.
    await client.query(
      `INSERT INTO ${minutes} AS c (retention, at, env_id, name_id, count)
       SELECT ${retention}, at, env_id, name_id, count
       FROM unnest($1::bigint[], $2::int[], $3::int[], $4::int[]) AS t (at, env_id, name_id, count) ORDER BY at, name_id
       ON CONFLICT (at, name_id) DO UPDATE SET count = c.count + EXCLUDED.count`,
      values.slice(0, 4),
    );
    await client.query(
      `INSERT INTO ${days} AS c (retention, at, env_id, name_id, count, last_at)
       SELECT ${retention}, at - at % ${DAY_MS} AS at, env_id, name_id, sum(count), max(last_at)
       FROM unnest($1::bigint[], $2::int[], $3::int[], $4::int[], $5::bigint[]) AS t (at, env_id, name_id, count, last_at)
       GROUP BY 1, 2, 3, 4 ORDER BY 2, 4
       ON CONFLICT (at, name_id) DO UPDATE
       SET count = c.count + EXCLUDED.count, last_at = greatest(c.last_at, EXCLUDED.last_at)`,
      values,
    );
  }
}
