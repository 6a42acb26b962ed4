import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type pg from 'pg';
import { migrate } from '../../src/archive/migrate.ts';
import { connectPostgres, dropSchema, postgresUrl } from '../support/postgres.ts';

const MIGRATIONS = join(import.meta.dirname, '../../src/archive/migrations');
const FILES = readdirSync(MIGRATIONS).sort();
const NAMES = FILES.map((file) => file.replace('.sql', ''));
const DAY = Date.UTC(2026, 5, 15);
const DAY_MS = 86_400_000;
const ID = '0197739b-3a00-7000-8000-000000000001';

/** Rows as each migration finds them, by the number of the migration that made their tables. They are in day tables, as archived-days.ts makes them. */
const FIXTURES: Record<number, readonly string[]> = {
  1: [
    "INSERT INTO environments (name) VALUES ('production')",
    "INSERT INTO event_names (env_id, name) VALUES (1, 'shop/paid')",
    "INSERT INTO event_sources (env_id, source) VALUES (1, 'api')",
    "INSERT INTO functions (env_id, function_id) VALUES (1, 'shop-pay')",
    `INSERT INTO archived_days (env_id, kind, day, retention, rows, bytes) VALUES (1, 'events', ${DAY}, 30, 1, 20)`,
    ...dayTable('events'),
    `INSERT INTO events (retention, at, id, env_id, name_id, source_id, request_id, index, is_jsonb, payload)
     VALUES (30, ${DAY}, '${ID}', 1, 1, 1, 'r', 0, true, '{"name":"shop/paid","data":{"n":1}}')`,
    ...dayTable('runs'),
    `INSERT INTO runs (retention, at, id, env_id, function_id, event_id, status, ended_at, record)
     VALUES (30, ${DAY}, '${ID}', 1, 1, '${ID}', 1, ${DAY}, '{}')`,
    ...dayTable('event_counts'),
    `INSERT INTO event_counts (retention, at, env_id, name_id, count) VALUES (30, ${DAY}, 1, 1, 1)`,
    ...dayTable('event_name_days'),
    `INSERT INTO event_name_days (retention, at, env_id, name_id, count, last_at) VALUES (30, ${DAY}, 1, 1, 1, ${DAY})`,
    ...dayTable('webhook_requests'),
    `INSERT INTO webhook_requests (retention, at, id, webhook_id, outcome, status, summary, request, body)
     VALUES (30, ${DAY}, '${ID}', 'w', 'accepted', 200, '{}', '{}', '\\x00')`,
    ...dayTable('audit_entries'),
    `INSERT INTO audit_entries (retention, at, sequence, entry) VALUES (30, ${DAY}, 0, '{}')`,
  ],
};

/** What the first migration stored; all of it must be there, with the same content, after each later one. */
const CHECKS = [
  'SELECT name FROM environments WHERE id = 1',
  'SELECT payload FROM events JOIN event_names n ON n.id = events.name_id',
  'SELECT record FROM runs JOIN functions f ON f.id = runs.function_id',
  'SELECT count FROM event_counts',
  'SELECT count FROM event_name_days',
  'SELECT body FROM webhook_requests',
  'SELECT entry FROM audit_entries',
  'SELECT rows FROM archived_days',
];

function dayTable(table: string): string[] {
  return [
    `CREATE TABLE ${table}_r30 (LIKE ${table} INCLUDING ALL) PARTITION BY RANGE (at)`,
    `ALTER TABLE ${table} ATTACH PARTITION ${table}_r30 FOR VALUES IN (30)`,
    `CREATE TABLE ${table}_r30_20260615 (LIKE ${table} INCLUDING ALL)`,
    `ALTER TABLE ${table}_r30 ATTACH PARTITION ${table}_r30_20260615 FOR VALUES FROM (${DAY}) TO (${DAY + DAY_MS})`,
  ];
}

describe('Migrations of the archive', () => {
  let schema: string;
  let client: pg.Client;
  let number = 0;
  beforeEach(async () => {
    schema = `test_migrations_${process.pid}_${++number}`;
    client = await connectPostgres(schema);
  });
  afterEach(async () => {
    await client.end();
    await dropSchema(schema);
  });

  const settings = () => ({ url: postgresUrl(), tlsVerify: true, schema });
  const run = (upTo?: number, directory?: string) => migrate(settings(), upTo, directory);
  const contents = async () => {
    const found = [];
    for (const check of CHECKS) found.push((await client.query(check)).rows);
    return found;
  };
  const done = async () => (await client.query('SELECT name FROM migrations ORDER BY id')).rows.map(({ name }) => name);

  for (const [index, name] of NAMES.entries()) {
    if (index === 0) continue;
    it(`${name} keeps the data of the migration before it`, async () => {
      for (let earlier = 1; earlier <= index; earlier++) {
        await run(earlier);
        for (const text of FIXTURES[earlier] ?? []) await client.query(text);
      }
      const before = await contents();
      for (const rows of before) expect(rows).to.have.length(1);
      expect(await run(index + 1)).to.deep.equal([name]);
      expect(await contents()).to.deep.equal(before);
    });
  }

  it('0003_run_logs adds logs to a detached day table, so that it can be attached again', async () => {
    await run(1);
    for (const text of FIXTURES[1] ?? []) await client.query(text);
    await client.query('ALTER TABLE runs_r30 DETACH PARTITION runs_r30_20260615');
    await run();
    const bounds = `FROM (${DAY}) TO (${DAY + DAY_MS})`;
    await client.query(`ALTER TABLE runs_r30 ATTACH PARTITION runs_r30_20260615 FOR VALUES ${bounds}`);
    expect((await client.query('SELECT record, logs FROM runs')).rows).to.deep.equal([{ record: '{}', logs: null }]);
  });

  it('run once each, even when they are repeated', async () => {
    expect(await run()).to.deep.equal(NAMES);
    expect(await run()).to.deep.equal([]);
    expect(await done()).to.deep.equal(NAMES);
  });

  it('run once when several processes start at once', async () => {
    const ran = await Promise.all([run(), run(), run()]);
    expect(ran.flat().sort()).to.deep.equal(NAMES);
    expect(await done()).to.deep.equal(NAMES);
  });

  it('are rolled back when they fail, and the error names the migration', async () => {
    await run();
    const dir = mkdtempSync(join(tmpdir(), 'tidegate-migrations-'));
    try {
      cpSync(MIGRATIONS, dir, { recursive: true });
      const broken = `${String(NAMES.length + 1).padStart(4, '0')}_broken`;
      const text =
        '-- Up Migration\nCREATE TABLE half (a int);\nALTER TABLE nowhere ADD COLUMN b int;\n-- Down Migration\n';
      writeFileSync(join(dir, `${broken}.sql`), text);
      const error = await run(undefined, dir).catch((failure: Error) => failure);
      expect((error as Error).message)
        .to.include(broken)
        .and.include('nowhere');
      expect((await client.query("SELECT to_regclass('half') AS found")).rows[0].found).to.equal(null);
      expect(await done()).to.deep.equal(NAMES);
      writeFileSync(join(dir, `${broken}.sql`), text.replace('ALTER TABLE nowhere', 'ALTER TABLE half'));
      expect(await run(undefined, dir)).to.deep.equal([broken]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
