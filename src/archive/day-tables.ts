/** The tables of the archive are partitioned by retention in days, then by day: `events` → `events_r7` →
 *  `events_r7_20261123`. A day is dropped as a whole; no row is ever deleted by itself. */

import { DAY_MS, floorTo, iso } from '../model/values/time.ts';
import type { Client } from './database.ts';
import { Repository } from './repository.ts';

/** Unique key of a day's rows, for each table. */
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

/** Taken by anybody who creates a day table or decides to drop one. */
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
