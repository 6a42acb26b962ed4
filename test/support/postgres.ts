/** The real Postgres of the tests; each test has its own schema. */
import pg from 'pg';

/** @throws if the tests were not started by scripts/test, which starts a Postgres */
export function postgresUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (!url)
    throw new Error(
      'TEST_DATABASE_URL is not set. Run tests with scripts/test, for example: scripts/test test/archive',
    );
  return url;
}

/** The schema for a service with this key prefix. */
export function schemaOf(prefix: string): string {
  return prefix.replaceAll('-', '_').toLowerCase();
}

/** Settings of a service with an archive. */
export function archiveSettings(prefix: string): Record<string, string> {
  return { DATABASE_URL: postgresUrl(), DATABASE_SCHEMA: schemaOf(prefix) };
}

/** A client that finds the tables of the schema. Its user ends it. */
export async function connectPostgres(schema: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: postgresUrl(), options: `-c search_path=${schema}` });
  await client.connect();
  return client;
}

export async function dropSchema(schema: string): Promise<void> {
  const client = await connectPostgres(schema);
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await client.end();
}
