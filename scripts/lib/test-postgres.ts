/** The Postgres of a test run. Starts in the background: few tests need it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findPostgres } from './postgres-program.ts';
import { startPostgres } from './postgres-server.ts';

export interface TestPostgres {
  /** For mocha (test/support/postgres.ts). */
  env: Record<string, string>;
  /** Schemas that tests left. */
  schemas(): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startTestPostgres(): Promise<TestPostgres> {
  const dir = mkdtempSync(join(tmpdir(), 'tidegate-test-postgres-'));
  const postgres = await startPostgres(findPostgres(), dir, { unsafe: true });
  return {
    env: { TEST_DATABASE_URL: postgres.url },
    async schemas() {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      const { rows } = await client.query<{ name: string }>(
        "SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'test\\_%'",
      );
      await client.end();
      return rows.map(({ name }) => name);
    },
    async stop() {
      await postgres.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
