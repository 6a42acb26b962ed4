import { resolve } from 'node:path';
import { expect } from 'chai';
import type pg from 'pg';
import { problemsOf } from '../../src/archive/server-check.ts';
import { connectPostgres, dropSchema, postgresUrl } from '../support/postgres.ts';
import { run } from '../support/program.ts';
import { redisSettings } from '../support/redis.ts';
import { SECRETS } from '../support/service.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SCHEMA = `test_release_${process.pid}`;
const USER = `test_release_user_${process.pid}`;

describe('The release check of Postgres', () => {
  let client: pg.Client;
  before(async () => {
    client = await connectPostgres('public');
    await client.query(`CREATE ROLE ${USER} LOGIN`);
  });
  after(async () => {
    await dropSchema(SCHEMA);
    await client.query(`DROP ROLE ${USER}`);
    await client.end();
  });

  const release = (url: string, more: Record<string, string> = {}) => {
    const env = { MODE: 'production', TRUST_PROXY: '1', PUBLIC_URL: 'https://events.example.com', ...SECRETS };
    const settings = { ...redisSettings(), KEY_PREFIX: `${SCHEMA}-redis`, DATABASE_URL: url, DATABASE_SCHEMA: SCHEMA };
    return run('scripts/start', ['release'], { cwd: ROOT, env: { ...env, ...settings, ...more } });
  };
  const urlOf = (user: string) => {
    const url = new URL(postgresUrl());
    url.username = user;
    return url.href;
  };

  it('fails when the user may not create the schema, and says what to grant', async () => {
    await client.query('REVOKE CREATE ON DATABASE postgres FROM PUBLIC');
    const { exitCode, output } = await release(urlOf(USER));
    expect(exitCode).to.equal(1);
    expect(output).to.include(`run: CREATE SCHEMA ${SCHEMA} AUTHORIZATION "${USER}"`);
  });

  it('runs the migrations once', async () => {
    const first = await release(postgresUrl());
    expect(first.exitCode, first.output).to.equal(0);
    expect(first.output)
      .to.match(/Postgres: ran \d+ migrations \(0001_archive, /)
      .and.include('Redis and Postgres respond');
    const second = await release(postgresUrl());
    expect([second.exitCode, second.output.includes('ran')]).to.deep.equal([0, false]);
    const other = await release(urlOf(USER));
    expect(other.output).to.include(`GRANT CREATE, USAGE ON SCHEMA ${SCHEMA} TO "${USER}"`);
  });

  it('fails with the reason when Postgres cannot be reached', async () => {
    const url = new URL(postgresUrl());
    url.port = '1';
    const { exitCode, output } = await release(url.href);
    expect(exitCode).to.equal(1);
    expect(output).to.match(/DATABASE_URL: cannot prepare Postgres at 127\.0\.0\.1:1: .*ECONNREFUSED/);
    // As on Heroku, whose URL has no sslmode.
    const unverified = await release(postgresUrl(), { DATABASE_TLS_VERIFY: 'false' });
    expect(unverified.output).to.match(/cannot prepare Postgres at .*SSL/);
    const encrypted = await release(`${postgresUrl()}?sslmode=require`);
    expect(encrypted.output).to.match(/cannot prepare Postgres at .*SSL/);
  });

  it('reports a version that is too old, a build without lz4, another encoding, and a pooler that drops settings', () => {
    const facts = {
      version: '15.4',
      number: 150_004,
      encoding: 'UTF8',
      lz4: true,
      search_path: 'tidegate',
      name: 'u',
      database: 'd',
    };
    const permitted = { present: true, in_schema: true, in_database: false };
    const problems = (given: object) => problemsOf({ ...facts, ...permitted, ...given }, 'tidegate');
    expect(problems({})).to.deep.equal([]);
    expect(problems({ version: '13.9', number: 130_009 })).to.deep.equal([
      'found Postgres 13.9; Tidegate needs 14 or newer',
    ]);
    expect(problems({ lz4: false }).join()).to.match(/without lz4/);
    expect(problems({ encoding: 'SQL_ASCII' }).join()).to.match(/"d" has the encoding SQL_ASCII/);
    expect(problems({ search_path: '"$user", public' }).join()).to.match(/PgBouncer must be in session mode/);
  });
});
