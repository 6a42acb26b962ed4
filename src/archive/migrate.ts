/** Brings the schema of the archive to the state that this version needs: each file of migrations/ runs once, in order, in a transaction. Several
 *  processes may do so at once: an advisory lock lets one after the other. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import type { ArchiveSettings } from '../config.ts';
import { connectionOf, type Database } from './database.ts';
import { postgres } from './packages.ts';

const DIRECTORY = join(import.meta.dirname, 'migrations');
const TABLE = 'migrations';
const CONNECT_TIMEOUT_MS = 5_000;

const STARTED = /MIGRATION (\S+) \(UP\)/;

/** @param upTo number of the last migration to run, for tests; default: all
 *  @param directory of the files, for tests
 *  @returns names of the migrations that ran
 *  @throws Error that names the migration that failed; then none of them has run */
export async function migrate(
  { url, tlsVerify, schema }: Pick<ArchiveSettings, 'url' | 'tlsVerify' | 'schema'>,
  upTo = Number.POSITIVE_INFINITY,
  directory = DIRECTORY,
): Promise<string[]> {
  const client = new (postgres().Client)({
    ...connectionOf(url, tlsVerify),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => {});
  await client.connect();
  try {
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
  } finally {
    await client.end();
  }
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
  const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS present', [`${schema}.${TABLE}`]);
  if (!rows[0].present) return 0;
  return (await client.query(`SELECT count(*)::int AS count FROM ${schema}.${TABLE}`)).rows[0].count;
}
