/** Archived days of each environment. The first shipment of a day decides its retention, which names the tables of its rows: so all rows
 *  of an event or run are in one table, even if the retention changes later. */
import { LRUCache } from 'lru-cache';
import { atMost } from '../model/values/cache-size.ts';
import type { Client } from './database.ts';
import { Repository } from './repository.ts';

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
