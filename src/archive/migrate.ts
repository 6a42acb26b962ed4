/** Migrates the archive's schema to this version: each file of migrations/ runs once, in order, in a transaction. Several processes may
 *  start at once: an advisory lock serializes them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import type { ArchiveSettings } from '../config.ts';
import { type Database, limited, STATEMENT_TIMEOUT_MS } from './database.ts';
import { withOwnConnection } from './own-connection.ts';

const DIRECTORY = join(import.meta.dirname, 'migrations');
const TABLE = 'migrations';

const STARTED = /MIGRATION (\S+) \(UP\)/;

/** @param upTo number of the last migration to run, for tests; default: all
 *  @param directory of the files, for tests
 *  @returns names of the executed migrations
 *  @throws Error that names the failed migration; then no migration has taken effect */
export async function migrate(
  { url, tlsVerify, schema }: Pick<ArchiveSettings, 'url' | 'tlsVerify' | 'schema'>,
  upTo = Number.POSITIVE_INFINITY,
  directory = DIRECTORY,
): Promise<string[]> {
  return withOwnConnection({ url, tlsVerify }, {}, async (client) => {
    const done = await countDone(client, schema);
    if (done >= Math.min(upTo, migrations(directory).length)) return [];
    let started = '';
    const { runner } = await import('node-pg-migrate');
    const ran = await runner({
      dbClient: client,
      dir: directory,
      direction: 'up',
      count: upTo - done,
      schema,
      createSchema: true,
      migrationsTable: TABLE,
      advisoryLockMode: 'wait',
      log: (line) => {
        started = STARTED.exec(line)?.[1] ?? started;
      },
    }).catch((error: Error) => {
      throw new Error(`migration ${started || '(before the first)'}: ${error.message}`, { cause: error });
    });
    return ran.map(({ name }) => name);
  });
}

/** Names of the migrations that have not run yet. */
export async function missingMigrations(database: Database): Promise<string[]> {
  const [found] = await database.queryAnySchema<{ present: boolean }>('SELECT to_regclass($1) IS NOT NULL AS present', [
    `${database.schema}.${TABLE}`,
  ]);
  if (!found?.present) return migrations();
  const rows = await database.queryAnySchema<{ name: string }>(`SELECT name FROM ${TABLE}`);
  const done = new Set(rows.map(({ name }) => name));
  return migrations().filter((name) => !done.has(name));
}

function migrations(directory = DIRECTORY): string[] {
  return readdirSync(directory)
    .map((file) => file.replace(/\.sql$/, ''))
    .sort();
}

async function countDone(client: pg.Client, schema: string): Promise<number> {
  const ask = (text: string, values: string[]) => client.query(limited(STATEMENT_TIMEOUT_MS, text, values));
  const { rows } = await ask('SELECT to_regclass($1) IS NOT NULL AS present', [`${schema}.${TABLE}`]);
  if (!rows[0].present) return 0;
  return (await ask(`SELECT count(*)::int AS count FROM ${schema}.${TABLE}`, [])).rows[0].count;
}
