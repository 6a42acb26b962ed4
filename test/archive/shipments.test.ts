import { expect } from 'chai';
import { DAY_MS } from '../../src/model/values/time.ts';
import { eventRow, type OwnArchive, openArchive, runRow } from '../support/own-archive.ts';

const NOON = Date.UTC(2026, 5, 15, 12);

describe('A shipment', () => {
  let archive: OwnArchive;

  beforeEach(async () => {
    archive = await openArchive();
  });

  afterEach(() => archive.close());

  const count = async (table: string) => {
    const [row] = await archive.database.query<{ count: number }>(`SELECT count(*) AS count FROM ${table}`);
    return row?.count;
  };
  const total = async (table: string) => {
    const [row] = await archive.database.query<{ sum: string }>(`SELECT sum(count)::text AS sum FROM ${table}`);
    return Number(row?.sum);
  };

  it('writes events and runs into tables of their days, and counts them', async () => {
    const events = [
      eventRow({ at: NOON }),
      eventRow({ at: NOON + 1, name: 'test/y' }),
      eventRow({ at: NOON + DAY_MS }),
    ];
    await archive.shipments.ship({ events, runs: [runRow({ at: NOON })] });
    expect(await count('events')).to.equal(3);
    expect(await count('events_r30_20260615')).to.equal(2);
    expect(await count('events_r30_20260616')).to.equal(1);
    expect(await count('runs_r30_20260615')).to.equal(1);
    expect(await total('event_counts')).to.equal(3);
    expect(await total('event_name_days')).to.equal(3);
    const days = await archive.database.query('SELECT kind, rows FROM archived_days ORDER BY kind, day');
    expect(days).to.deep.equal([
      { kind: 'events', rows: 2 },
      { kind: 'events', rows: 1 },
      { kind: 'runs', rows: 1 },
    ]);
  });

  it('adds each row once, however often it is shipped', async () => {
    const first = [eventRow({ at: NOON }), eventRow({ at: NOON })];
    const run = runRow({ at: NOON, batch: first.map(({ id }) => id) });
    await archive.shipments.ship({ events: first, runs: [run] });
    await archive.shipments.ship({ events: [...first, eventRow({ at: NOON + 1 })], runs: [run, runRow({ at: NOON })] });
    await archive.shipments.ship({ events: first, runs: [run] });
    expect(await count('events')).to.equal(3);
    expect(await count('runs')).to.equal(2);
    expect(await total('event_counts')).to.equal(3);
    expect(await total('event_name_days')).to.equal(3);
    const days = await archive.database.query('SELECT kind, rows FROM archived_days ORDER BY kind');
    expect(days).to.deep.equal([
      { kind: 'events', rows: 3 },
      { kind: 'runs', rows: 2 },
    ]);
  });

  it('keeps texts that Postgres cannot hold', async () => {
    const name = 'nul\0 and \ud800';
    await archive.shipments.ship({
      events: [eventRow({ at: NOON, name, dedupId: 'a\0', data: { 'k\0': '\ud800' } })],
      runs: [],
    });
    const [row] = await archive.database.query<{ payload: string; is_jsonb: boolean }>(
      'SELECT payload, is_jsonb FROM events',
    );
    expect(JSON.parse(row?.payload ?? '')).to.include({ name, id: 'a\0' });
    expect(row?.is_jsonb).to.equal(false);
  });
});
