import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { dayOf } from '../../src/archive/archived-days.ts';
import { StorageUses } from '../../src/history/storage-use.ts';
import { DAY_MS } from '../../src/model/values/time.ts';
import { type AppHost, startAppHost } from '../support/app-host.ts';
import { eventRow, type OwnArchive, openArchive, runRow } from '../support/own-archive.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { type Service, startService } from '../support/service.ts';

describe('The archived storage of an environment', () => {
  let archive: OwnArchive;
  beforeEach(async () => {
    archive = await openArchive();
  });
  afterEach(() => archive.close());

  const measure = () => new StorageUses({ hotStorage: archive.store.hotStorage, archive });

  it('is counted by day, with its share of the disk space that environments share', async () => {
    const today = dayOf(Date.now());
    const data = { text: 'x'.repeat(1_000) };
    for (const ago of [3, 2, 1]) {
      const at = today - ago * DAY_MS;
      const events = Array.from({ length: 30 }, () => eventRow({ at, data }));
      const others = Array.from({ length: 10 }, () => eventRow({ env: 'staging', at, data }));
      await archive.shipments.ship({ events: [...events, ...others], runs: [runRow({ at })] });
    }
    const { archived, diskBytesPerDay } = await measure().of('production');
    const days = archived?.environment ?? [];
    expect(days.map(({ kind, day, rows }) => [kind, (today - day) / DAY_MS, rows])).to.have.deep.members([
      ['events', 3, 30],
      ['runs', 3, 1],
      ['events', 2, 30],
      ['runs', 2, 1],
      ['events', 1, 30],
      ['runs', 1, 1],
    ]);
    const ofStaging = (await measure().of('staging')).archived?.environment ?? [];
    const disk = (of: typeof days) =>
      of.find(({ kind, day }) => kind === 'events' && day === today - DAY_MS)?.diskBytes ?? 0;
    expect(disk(days) / disk(ofStaging)).to.be.closeTo(3, 0.01);
    const name = new Date(today - DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
    const [size] = await archive.database.query<{ bytes: number }>(
      `SELECT sum(pg_total_relation_size(t)) AS bytes FROM unnest($1::regclass[]) t`,
      [['events', 'event_counts', 'event_name_days'].map((table) => `${table}_r30_${name}`)],
    );
    expect(disk(days) + disk(ofStaging)).to.be.closeTo(Number(size?.bytes), 2);
    expect(days.find(({ kind }) => kind === 'events')?.bytes).to.be.within(30_000, 40_000);
    // The newest day may still grow.
    const complete = days.filter(({ day }) => day < today - DAY_MS);
    expect(diskBytesPerDay).to.equal(complete.reduce((sum, { diskBytes }) => sum + diskBytes, 0) / 2);
    expect((await measure().of('nowhere')).archived?.environment).to.deep.equal([]);
  });
});

describe('GET /v1/storage', () => {
  let service: Service;
  let host: AppHost;
  beforeEach(async () => {
    host = await startAppHost();
  });
  afterEach(async () => {
    await service.stop();
    await host.close();
  });
  const storage = async () => (await service.get('/v1/storage')).body.data;

  it('counts the events and runs that Redis has, and estimates their size', async () => {
    service = await startService();
    host.on('f', () => ({ body: { text: randomBytes(1_500).toString('base64') } }));
    await host.register(service, [{ id: 'f', triggers: [{ event: 's/x' }] }]);
    const text = randomBytes(750).toString('base64');
    await service.post(
      '/e/key',
      Array.from({ length: 20 }, () => ({ name: 's/x', data: { text } })),
    );
    // Most events of a busy minute may run nothing.
    await service.post(
      '/e/key',
      Array.from({ length: 380 }, () => ({ name: 's/other', data: { text } })),
    );
    await service.waitFor('/v1/runs?status=Completed&limit=100', ({ body }) => body.data.length === 20);
    const { hot, ...rest } = await storage();
    expect(rest).to.include({ retention_days: 7, archive: 'off', archived: null, installation: null });
    expect(hot).to.include({ events: 400, runs: 20 });
    expect(hot.bytes).to.be.within(400 * 1_000 + 20 * 2_000, 400 * 3_000 + 20 * 7_000);
    expect(Date.parse(hot.oldest_at)).to.be.within(Date.now() - 120_000, Date.now());
  });

  it('shows what a retention costs, and says when Postgres is unavailable', async () => {
    const proxy = await PostgresProxy.start();
    try {
      service = await startService({ archive: true, workers: 0, env: { DATABASE_URL: proxy.url } });
      await service.request('PATCH', '/v1/environments/production/limits', {
        event_max_bytes: null,
        retention_days: 45,
      });
      expect(await storage()).to.deep.include({
        retention_days: 45,
        archive: 'ok',
        hot: { events: 0, runs: 0, bytes: 0, oldest_at: null },
        archived: {
          events: { rows: 0, payload_bytes: 0, disk_bytes: 0 },
          runs: { rows: 0, payload_bytes: 0, disk_bytes: 0 },
          oldest_day: null,
          days: [],
          disk_bytes_per_day: null,
          forecast: [],
        },
      });
      await service.post('/v1/environments', { name: 'other' });
      proxy.leave();
      const { body } = await service.get('/v1/storage', { 'x-service-env': 'other' });
      expect(body.data).to.include({ archive: 'unavailable', archived: null });
    } finally {
      await proxy.stop();
    }
  });
});
