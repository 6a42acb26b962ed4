import { expect } from 'chai';
import { ulid } from 'ulid';
import { dayOf } from '../../src/archive/archived-days.ts';
import { maintainDays } from '../../src/jobs/archive/day-maintenance.ts';
import { createLog } from '../../src/log.ts';
import { DAY_MS } from '../../src/model/values/time.ts';
import { eventRow, type OwnArchive, openArchive, runRow } from '../support/own-archive.ts';
import { connectPostgres } from '../support/postgres.ts';

const NOW = Date.UTC(2026, 5, 15, 12);
const RETENTION_DAYS = 30;

describe('Archived days', () => {
  let archive: OwnArchive;

  beforeEach(async () => {
    archive = await openArchive();
  });
  afterEach(() => archive.close());

  const maintain = async (nowMs: number) => {
    const { environments, locks } = archive.store;
    const deps = {
      archive,
      environments,
      locks,
      retentionDays: RETENTION_DAYS,
      auditRetentionDays: 365,
      log: createLog('silent', 'test'),
    };
    return maintainDays(deps, nowMs, new AbortController().signal);
  };
  const daysAgo = (days: number) => NOW - days * DAY_MS;
  const ship = (env: string, at: number, name = 'test/x') => {
    return archive.shipments.ship({ events: [eventRow({ env, at, name })], runs: [runRow({ env, at })] });
  };
  const tables = async () => {
    const text =
      "SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND relname ~ '_r[0-9]+_[0-9]{8}$' ORDER BY 1";
    return (await archive.database.query<{ name: string }>(text, [archive.settings.schema])).map(({ name }) => name);
  };
  const names = async () => {
    const rows = await archive.database.query<{ name: string }>('SELECT name FROM event_names ORDER BY 1');
    return rows.map(({ name }) => name);
  };
  const count = async (table: string) => {
    const [row] = await archive.database.query<{ count: number }>(`SELECT count(*) AS count FROM ${table}`);
    return row?.count;
  };
  const retain = (env: string, retentionDays: number | undefined) => {
    return archive.store.environments.change(env, ({ retentionDays: _, ...environment }) => ({
      ...environment,
      ...(retentionDays !== undefined && { retentionDays }),
    }));
  };

  it('have tables for today and the next two days, for each retention in use', async () => {
    await archive.store.environments.create({ name: 'staging', kind: 'named', createdAt: NOW, retentionDays: 90 }, 10);
    await maintain(NOW);
    const all = await tables();
    for (const date of ['20260615', '20260616', '20260617']) {
      for (const table of ['events', 'runs', 'event_counts', 'event_name_days']) {
        expect(all).to.include.members([`${table}_r30_${date}`, `${table}_r90_${date}`]);
      }
      expect(all).to.include.members([
        `webhook_requests_r30_${date}`,
        `webhook_bodies_r30_${date}`,
        `webhook_request_counts_r30_${date}`,
      ]);
      expect(all).to.include(`audit_entries_r365_${date}`);
    }
    expect(all).to.have.length(3 * (4 + 4 + 4));
    await maintain(NOW);
    expect(await tables()).to.deep.equal(all);
  });

  it('are dropped as a whole when their retention has passed, together with names that no other day has', async () => {
    await ship('production', daysAgo(31), 'test/old');
    await ship('production', daysAgo(31), 'test/both');
    await ship('production', daysAgo(30), 'test/both');
    const before = await tables();
    expect(before).to.include.members(['events_r30_20260515', 'runs_r30_20260515', 'events_r30_20260516']);
    // The last event of a day is kept for 30 days as well.
    expect(await maintain(dayOf(NOW) - 1)).to.deep.equal({ removed: 0, postponed: 0 });
    expect(await maintain(dayOf(NOW))).to.deep.equal({ removed: 2, postponed: 0 });
    const after = await tables();
    expect(after.filter((name) => name.endsWith('20260515'))).to.deep.equal([]);
    expect(after).to.include.members(['events_r30_20260516', 'runs_r30_20260516']);
    expect(await names()).to.deep.equal(['test/both']);
    expect(await count('events')).to.equal(1);
    expect(await count('archived_days')).to.equal(2);
  });

  it('of webhook requests and of audit entries are dropped when the retention of each has passed', async () => {
    const row = (at: number) => ({
      id: ulid(at),
      at,
      webhookId: ulid(),
      outcome: 'accepted',
      verification: undefined,
      status: 200,
      eventName: undefined,
      summary: '{}',
      request: '{}',
      body: undefined,
    });
    await archive.requestShipments.ship([daysAgo(31), daysAgo(29)].map(row), RETENTION_DAYS);
    const entries = [daysAgo(366), daysAgo(31)].map((at) => ({ id: `${at}-0`, entry: '{}' }));
    await archive.audit.ship(entries, 365);
    expect(await maintain(NOW)).to.deep.equal({ removed: 2, postponed: 0 });
    const left = [await count('webhook_requests'), await count('webhook_request_counts'), await count('audit_entries')];
    expect(left).to.deep.equal([1, 1, 1]);
  });

  it('stay while any environment with rows in them needs them, by its present retention', async () => {
    await archive.store.environments.create({ name: 'staging', kind: 'named', createdAt: NOW }, 10);
    await ship('production', daysAgo(40));
    await ship('staging', daysAgo(40));
    await retain('staging', 60);
    await maintain(NOW);
    // One table has the rows of both.
    expect(await count('events')).to.equal(2);
    await retain('staging', 10);
    await maintain(NOW);
    expect(await count('events')).to.equal(0);
    expect(await count('archived_days')).to.equal(0);
  });

  it('of a deleted environment are dropped at once, except shared ones', async () => {
    await archive.store.environments.create({ name: 'branch', kind: 'branch', createdAt: NOW, retentionDays: 5 }, 10);
    await ship('branch', daysAgo(2));
    await ship('production', daysAgo(1));
    await retain('branch', undefined);
    await ship('branch', daysAgo(1), 'test/branch');
    await archive.numbers.forgetEnvironment('branch', NOW);
    await archive.store.environments.remove('branch');
    await maintain(NOW);
    const left = await tables();
    expect(left.filter((name) => /_20260613$/.test(name))).to.deep.equal([]);
    expect(left).to.include('events_r30_20260614');
    expect(await archive.numbers.environment('branch')).to.equal(undefined);
    // Its names, functions and number go with its last day.
    await maintain(NOW + 40 * DAY_MS);
    expect(await count('environments')).to.equal(1);
    expect(await count('functions')).to.equal(1);
    expect(await names()).to.deep.equal([]);
  });

  it('of an environment that Redis has lost are kept', async () => {
    await archive.store.environments.create({ name: 'staging', kind: 'named', createdAt: NOW, retentionDays: 90 }, 10);
    await ship('staging', daysAgo(60));
    await archive.store.environments.remove('staging');
    await maintain(NOW);
    expect(await count('events')).to.equal(1);
  });

  it('that are being read are dropped later', async () => {
    await ship('production', daysAgo(40));
    const reader = await connectPostgres(archive.settings.schema);
    try {
      await reader.query('BEGIN');
      await reader.query('SELECT count(*) FROM events');
      expect(await maintain(NOW)).to.deep.equal({ removed: 1, postponed: 1 });
      await reader.query('COMMIT');
    } finally {
      await reader.end();
    }
    expect(await maintain(NOW)).to.deep.equal({ removed: 1, postponed: 0 });
    expect(await count('archived_days')).to.equal(0);
  });

  it('accept rows that are shipped while they are removed', async () => {
    await ship('production', daysAgo(40), 'test/x');
    // Another process removes the day, and this one still has its tables and names in memory.
    const other = await connectPostgres(archive.settings.schema);
    await other.query('ALTER TABLE events_r30 DETACH PARTITION events_r30_20260506');
    await other.query('DROP TABLE events_r30_20260506');
    await other.query('DELETE FROM event_names');
    await other.end();
    await ship('production', daysAgo(40), 'test/x');
    expect(await count('events')).to.equal(1);
    expect(await names()).to.deep.equal(['test/x']);
  });

  it('that were detached are attached again when they are needed', async () => {
    await ship('production', daysAgo(3));
    const other = await connectPostgres(archive.settings.schema);
    await other.query('ALTER TABLE events_r30 DETACH PARTITION events_r30_20260612');
    await other.end();
    expect(await count('events')).to.equal(0);
    expect(await maintain(NOW)).to.deep.equal({ removed: 0, postponed: 0 });
    expect(await count('events')).to.equal(1);
  });
});
