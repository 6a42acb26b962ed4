/** The Postgres of a test bed, as an installation has it: every commit is on disk before it is confirmed. Settings are Postgres's own apart from memory
 *  and the size of the write-ahead log between two checkpoints. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findPostgres } from '../scripts/lib/postgres-program.ts';
import { type OwnPostgres, startPostgres } from '../scripts/lib/postgres-server.ts';
import { migrate } from '../src/archive/migrate.ts';

export const POSTGRES_SETTINGS = { shared_buffers: '1GB', max_wal_size: '4GB' };
const SCHEMA = 'bench';
/** Used by all measurements that do not say otherwise; nothing that they store is as old. */
export const HOT_HOURS = 24;
export const RETENTION_DAYS = 40;
const HOUR_MS = 3_600_000;
/** Relations of a day. */
const LEAVES = `SELECT c.oid, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = '${SCHEMA}' AND c.relkind = 'r' AND c.relispartition`;

export type ArchiveTable = 'events' | 'runs';

/** Bytes on disk. */
export interface TableSize {
  rows: number;
  /** With its TOAST table. */
  table: number;
  indexes: { columns: string; bytes: number }[];
}

export class BedArchive {
  /** For connections of its own. */
  readonly url: string;
  /** Finds the tables of the archive. */
  readonly client: pg.Client;
  readonly #postgres: OwnPostgres;
  readonly #dir: string;

  private constructor(postgres: OwnPostgres, client: pg.Client, dir: string) {
    this.#postgres = postgres;
    this.url = postgres.url;
    this.client = client;
    this.#dir = dir;
  }

  static async open(): Promise<BedArchive> {
    const dir = mkdtempSync(join(tmpdir(), 'tidegate-bench-postgres-'));
    const postgres = await startPostgres(findPostgres(), dir, { settings: POSTGRES_SETTINGS });
    const client = new pg.Client({ connectionString: postgres.url, options: `-c search_path=${SCHEMA}` });
    // The end of Postgres ends its connections.
    client.on('error', () => {});
    await client.connect();
    const archive = new BedArchive(postgres, client, dir);
    await archive.empty();
    return archive;
  }

  /** Settings of web and worker: with the archive, in which nothing is due. */
  get env(): Record<string, string> {
    return {
      DATABASE_URL: this.url,
      DATABASE_SCHEMA: SCHEMA,
      HOT_HOURS: String(HOT_HOURS),
      RETENTION_DAYS: String(RETENTION_DAYS),
    };
  }

  /** Settings of a worker whose archiver moves what is older than this. Production has hours; only dev mode permits less. */
  envOfHot(hotMs: number): Record<string, string> {
    return { MODE: 'dev', HOT_HOURS: String(hotMs / HOUR_MS) };
  }

  get schema(): string {
    return SCHEMA;
  }

  /** Drops everything and makes the tables again. No process may use them. */
  async empty(): Promise<void> {
    await this.client.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
    await migrate({ url: this.url, tlsVerify: true, schema: SCHEMA });
  }

  /** Rows that are committed. */
  async rows(table: ArchiveTable): Promise<number> {
    const text = 'SELECT coalesce(sum(rows), 0)::int AS rows FROM archived_days WHERE kind = $1';
    return (await this.client.query<{ rows: number }>(text, [table])).rows[0]?.rows ?? 0;
  }

  /** The tables of days, oldest first. */
  async dayTables(table: ArchiveTable): Promise<string[]> {
    const text = `SELECT name FROM (${LEAVES}) leaves WHERE name ~ $1 ORDER BY name`;
    const { rows } = await this.client.query<{ name: string }>(text, [`^${table}_r\\d+_\\d+$`]);
    return rows.map(({ name }) => name);
  }

  /** As Postgres does by itself after a while. */
  async vacuum(): Promise<void> {
    const { rows } = await this.client.query<{ name: string }>(LEAVES);
    for (const { name } of rows) await this.client.query(`VACUUM (ANALYZE) ${name}`);
  }

  /** The size of all days together. */
  async sizeOf(table: ArchiveTable): Promise<TableSize> {
    const size: TableSize = { rows: 0, table: 0, indexes: [] };
    for (const name of await this.dayTables(table)) {
      const [found] = (
        await this.client.query<{ rows: string; bytes: string }>(
          `SELECT count(*) AS rows, pg_table_size('${name}') AS bytes FROM ${name}`,
        )
      ).rows;
      size.rows += Number(found?.rows);
      size.table += Number(found?.bytes);
      const { rows } = await this.client.query<{ definition: string; bytes: string }>(
        `SELECT pg_get_indexdef(indexrelid) AS definition, pg_relation_size(indexrelid) AS bytes
         FROM pg_index WHERE indrelid = '${name}'::regclass ORDER BY 1`,
      );
      for (const { definition, bytes } of rows) {
        const columns = definition.replace(/^.* USING (?:btree )?/, '');
        const present = size.indexes.find((index) => index.columns === columns);
        if (present) present.bytes += Number(bytes);
        else size.indexes.push({ columns, bytes: Number(bytes) });
      }
    }
    return size;
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => {});
    await this.#postgres.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
