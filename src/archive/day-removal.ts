/** Drops the tables of expired days. A table is detached first, without waiting for readers of other days; then it is renamed, unless
 *  needed rows were added meanwhile; then it is dropped. Any process can continue where another one stopped. */

import { DAY_MS } from '../model/values/time.ts';
import {
  type ArchivedKind,
  attach,
  dayTable,
  lockDayTables,
  PARTITIONED_TABLES,
  type PartitionedTable,
  retentionTable,
} from './archived-days.ts';
import { type Client, Repository } from './database.ts';
import type { UnusedNumbers } from './unused-numbers.ts';

const KIND_OF = {
  events: 'events',
  event_counts: 'events',
  event_name_days: 'events',
  runs: 'runs',
  webhook_requests: 'webhook_requests',
  webhook_bodies: 'webhook_requests',
  webhook_request_counts: 'webhook_requests',
  audit_entries: 'audit_entries',
} as const satisfies Record<PartitionedTable, ArchivedKind>;

/** Tables of each kind in the order of removal: the last table of events tells which names have events. */
export const TABLES_OF = Object.groupBy(
  Object.keys(KIND_OF) as PartitionedTable[],
  (table) => KIND_OF[table],
) as Record<ArchivedKind, PartitionedTable[]>;

const NAMES = new RegExp(
  `^(dropped_)?(${Object.keys(PARTITIONED_TABLES).join('|')})_r(\\d+)_(\\d{4})(\\d\\d)(\\d\\d)$`,
);
/** Maximum wait for a lock, because others queue behind a waiter. */
const LOCK_MS = 2_000;
const STATEMENT_MS = 60_000;

/** The tables of one day, kind and retention. */
export interface ArchivedDay {
  kind: ArchivedKind;
  retention: number;
  day: number;
  tables: { table: PartitionedTable; state: 'attached' | 'detaching' | 'detached' | 'renamed' }[];
  /** Numbers of the environments that have rows. */
  envIds: number[];
}

/** Whether an environment's rows in tables of this retention are kept. */
export type IsKept = (kind: ArchivedKind, envId: number, retention: number, day: number) => boolean;

export class DayRemoval extends Repository<{ unusedNumbers: UnusedNumbers }> {
  /** All days with tables, oldest first. */
  async all(): Promise<ArchivedDay[]> {
    const [found, days] = await Promise.all([
      this.database.query<{ name: string; attached: boolean; detaching: boolean }>(
        `SELECT c.relname AS name, i.inhrelid IS NOT NULL AS attached, coalesce(i.inhdetachpending, false) AS detaching
         FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
         WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' AND c.relname ~ '_r[0-9]+_[0-9]{8}$'`,
        [this.database.schema],
      ),
      this.database.query<{ env_id: number; kind: string; day: number; retention: number }>(
        'SELECT env_id, kind, day, retention FROM archived_days',
      ),
    ]);
    const all = new Map<string, ArchivedDay>();
    const keyOf = (kind: string, retention: number, day: number) => `${kind}:${retention}:${day}`;
    for (const { name, attached, detaching } of found) {
      const [, renamed, table, retention, ...date] = NAMES.exec(name) ?? [];
      if (table === undefined) continue;
      const kind = KIND_OF[table as PartitionedTable];
      const day = Date.parse(date.join('-'));
      const key = keyOf(kind, Number(retention), day);
      const known = all.get(key) ?? { kind, retention: Number(retention), day, tables: [], envIds: [] };
      const state = renamed ? 'renamed' : detaching ? 'detaching' : attached ? 'attached' : 'detached';
      known.tables.push({ table: table as PartitionedTable, state });
      all.set(key, known);
    }
    for (const { env_id, kind, day, retention } of days) all.get(keyOf(kind, retention, day))?.envIds.push(env_id);
    return [...all.values()].sort((a, b) => a.day - b.day);
  }

  /** Drops the tables of a day, one after the other.
   *  @returns false if rows that are needed were added in the meantime
   *  @throws if a lock cannot be acquired in time: try again later */
  async remove({ kind, retention, day, tables }: ArchivedDay, isKept: IsKept): Promise<boolean> {
    const inOrder = TABLES_OF[kind].flatMap((table) => tables.filter((existing) => existing.table === table));
    return this.database.withClient(async (client) => {
      await client.query(`SET lock_timeout = ${LOCK_MS}`);
      await client.query(`SET statement_timeout = ${STATEMENT_MS}`);
      try {
        for (const { table, state } of inOrder) {
          if (state === 'attached' || state === 'detaching') {
            const how = state === 'attached' ? 'CONCURRENTLY' : 'FINALIZE';
            const parent = retentionTable(table, retention);
            await client.query(`ALTER TABLE ${parent} DETACH PARTITION ${dayTable(table, retention, day)} ${how}`);
          }
          if (state !== 'renamed' && !(await this.#rename(client, { kind, table, retention, day }, isKept)))
            return false;
          const name = renamed(table, retention, day);
          if (table === 'event_name_days') await this.deps.unusedNumbers.removeNames(client, name, day);
          await client.query(`DROP TABLE ${name}`);
        }
        return true;
      } finally {
        await client.query('RESET lock_timeout; RESET statement_timeout').catch(() => {});
      }
    });
  }

  /** Nobody writes to the table from here on: a shipment to the former name creates a new table. */
  async #rename(
    client: Client,
    { kind, table, retention, day }: { kind: ArchivedKind; table: PartitionedTable; retention: number; day: number },
    isKept: IsKept,
  ): Promise<boolean> {
    const name = dayTable(table, retention, day);
    const values = [kind, retention, day];
    await client.query('BEGIN');
    try {
      await lockDayTables(client, this.database.schema);
      // Waits for shipments in progress.
      await client.query(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`);
      const { rows } = await client.query<{ env_id: number }>(
        'SELECT env_id FROM archived_days WHERE kind = $1 AND retention = $2 AND day = $3',
        values,
      );
      const isNeeded = rows.some(({ env_id }) => isKept(kind, env_id, retention, day));
      if (isNeeded) await attach(client, table, retention, day);
      else {
        await client.query(`ALTER TABLE ${name} RENAME TO ${renamed(table, retention, day)}`);
        if (table === TABLES_OF[kind].at(-1)) {
          await client.query('DELETE FROM archived_days WHERE kind = $1 AND retention = $2 AND day = $3', values);
        }
      }
      await client.query('COMMIT');
      return !isNeeded;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }
}

function renamed(table: PartitionedTable, retention: number, day: number): string {
  return `dropped_${dayTable(table, retention, day)}`;
}

/** The time at which the last row of a day has been kept for this many days. */
export function keptUntil(day: number, retentionDays: number): number {
  return day + DAY_MS + retentionDays * DAY_MS;
}
