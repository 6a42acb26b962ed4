/** Archived days of each environment. The first shipment of a day decides its retention, which names the tables of its rows: so all rows
 *  of an event or run are in one table, even if the retention changes later. */
import { LRUCache } from 'lru-cache';
import { atMost } from '../model/values/cache-size.ts';
import { DAY_MS, floorTo, iso } from '../model/values/time.ts';
import { type Client, Repository } from './database.ts';

export type ArchivedKind = 'events' | 'runs' | 'webhook_requests' | 'audit_entries';

/** Environment number that stands for the installation. */
export const INSTALLATION = 0;
const CACHED_MAX = 20_000;

export interface ArchivedDay {
  /** Start of the day, Unix milliseconds. */
  day: number;
  /** Retention in days, which names the tables of the day's rows. */
  retention: number;
  rows: number;
  bytes: number;
}

export interface DayChange {
  envId: number;
  kind: ArchivedKind;
  day: number;
  rows: number;
  bytes: number;
}

export class ArchivedDays extends Repository {
  readonly #retentions = new LRUCache<string, number>(atMost(CACHED_MAX));

  /** Retention of a day, in days.
   *  @param wanted retention for a day that has none yet */
  async retentionOf(envId: number, kind: ArchivedKind, day: number, wanted: number): Promise<number> {
    const key = `${envId}:${kind}:${day}`;
    const cached = this.#retentions.get(key);
    if (cached !== undefined) return cached;
    const insert =
      'INSERT INTO archived_days (env_id, kind, day, retention) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING';
    await this.database.query(insert, [envId, kind, day, wanted]);
    const select = 'SELECT retention FROM archived_days WHERE env_id = $1 AND kind = $2 AND day = $3';
    const [row] = await this.database.query<{ retention: number }>(select, [envId, kind, day]);
    const retention = row?.retention ?? wanted;
    this.#retentions.set(key, retention);
    return retention;
  }

  /** Days with rows, newest first.
   *  @param from start of the first day
   *  @param to start of the last day, inclusive */
  async between(envId: number, kind: ArchivedKind, from: number, to: number): Promise<ArchivedDay[]> {
    return this.database.query<ArchivedDay & Record<string, unknown>>(
      `SELECT day, retention, rows, bytes FROM archived_days
       WHERE env_id = $1 AND kind = $2 AND day BETWEEN $3 AND $4 AND rows > 0 ORDER BY day DESC`,
      [envId, kind, from, to],
    );
  }

  /** Clears the cache, which may name days that another process has removed. */
  forget(): void {
    this.#retentions.clear();
  }

  /** Adds rows and bytes. Call at the end of a transaction, because other transactions wait for the same rows. */
  async add(client: Client, changes: readonly DayChange[]): Promise<void> {
    const order = ({ envId, kind, day }: DayChange) => `${envId}:${kind}:${day}`;
    const sorted = [...changes].sort((a, b) => order(a).localeCompare(order(b)));
    await client.query(
      `UPDATE archived_days d SET rows = d.rows + c.rows, bytes = d.bytes + c.bytes
       FROM (SELECT * FROM unnest($1::int[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
             AS t (env_id, kind, day, rows, bytes) ORDER BY 1, 2, 3) c
       WHERE d.env_id = c.env_id AND d.kind = c.kind AND d.day = c.day`,
      [
        sorted.map(({ envId }) => envId),
        sorted.map(({ kind }) => kind),
        sorted.map(({ day }) => day),
        sorted.map(({ rows }) => rows),
        sorted.map(({ bytes }) => bytes),
      ],
    );
  }
}

/** Unique key of a day's rows, for each table. The tables are partitioned by retention in days, then by day: `events` → `events_r7` →
 *  `events_r7_20261123`. A day is dropped as a whole; no row is ever deleted by itself. */
export const PARTITIONED_TABLES = {
  events: '(id)',
  runs: '(id)',
  event_counts: '(at, name_id)',
  event_name_days: '(at, name_id)',
  webhook_requests: '(id)',
  webhook_bodies: '(id)',
  webhook_request_counts: '(at, webhook_id, outcome)',
  audit_entries: '(at, sequence)',
} as const;
export type PartitionedTable = keyof typeof PARTITIONED_TABLES;

/** Start of the day in UTC. */
export function dayOf(timeMs: number): number {
  return floorTo(timeMs, DAY_MS);
}

export function dayTable(table: PartitionedTable, retention: number, day: number): string {
  return `${retentionTable(table, retention)}_${iso(day).slice(0, 10).replaceAll('-', '')}`;
}

export function retentionTable(table: PartitionedTable, retention: number): string {
  return `${table}_r${retention}`;
}

/** Taken by every transaction that creates a day table or decides to drop one. */
export async function lockDayTables(client: Client, schema: string): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`${schema}.day-tables`]);
}

export async function attach(client: Client, table: PartitionedTable, retention: number, day: number): Promise<void> {
  const bounds = `FROM (${day}) TO (${day + DAY_MS})`;
  await client.query(
    `ALTER TABLE ${retentionTable(table, retention)} ATTACH PARTITION ${dayTable(table, retention, day)} FOR VALUES ${bounds}`,
  );
}

export class DayTables extends Repository {
  readonly #present = new Set<string>();

  /** Creates the table unless it exists. Readers and writers of other days do not wait for it.
   *  @returns its name */
  async ensure(table: PartitionedTable, retention: number, day: number): Promise<string> {
    const name = dayTable(table, retention, day);
    if (this.#present.has(name)) return name;
    const parent = retentionTable(table, retention);
    const { schema } = this.database;
    await this.database.transaction(async (client) => {
      await lockDayTables(client, schema);
      const { rows } = await client.query(
        `SELECT to_regclass($1) IS NOT NULL AS parent, to_regclass($2) IS NOT NULL AS leaf,
         EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass($2)) AS attached`,
        [`${schema}.${parent}`, `${schema}.${name}`],
      );
      if (!rows[0].parent) {
        await client.query(`CREATE TABLE ${parent} (LIKE ${table} INCLUDING ALL) PARTITION BY RANGE (at)`);
        await client.query(`ALTER TABLE ${table} ATTACH PARTITION ${parent} FOR VALUES IN (${retention})`);
      }
      if (!rows[0].leaf) {
        const check = `CHECK (retention = ${retention} AND at >= ${day} AND at < ${day + DAY_MS})`;
        await client.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL, ${check})`);
        await client.query(`CREATE UNIQUE INDEX ON ${name} ${PARTITIONED_TABLES[table]}`);
      }
      // Detached: its removal was interrupted (day-removal.ts).
      if (!rows[0].attached) await attach(client, table, retention, day);
    });
    this.#present.add(name);
    return name;
  }

  /** Clears the cache, which may name tables that another process has dropped. */
  forget(): void {
    this.#present.clear();
  }
}
